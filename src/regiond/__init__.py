"""The region daemon: the record of all nodes, who may use them, and what is to be done with them."""
