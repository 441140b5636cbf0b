"""The ``switchgear`` command: a client for people, everything on one machine, and the demo. Floor 3."""
