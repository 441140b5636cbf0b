"""The life of a node, decided in values: no database, no Twisted."""
