"""The wire: AMP commands, their arguments and the values that travel in them. It only grows."""
