"""The web page of a region: nodes as the record has them, updated by server-sent events."""
