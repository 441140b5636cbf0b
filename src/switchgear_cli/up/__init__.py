"""``switchgear up``: PostgreSQL, a region, a rack and simulated chassis on one machine, supervised."""
