"""Simulated chassis that behave as badly as real ones, and keep the physical truth as a judge would.

Shares no code with what it judges: it imports nothing of the region, the rack or the drivers.
"""
