"""The rack daemon: it holds leases of chassis, speaks to each in turn, and tells the regions."""
