"""Why something on this machine can't start, in words that say what to do."""


class CantStart(Exception):
    """A part can't be started. Nothing of what was started for it is left."""
