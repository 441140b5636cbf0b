"""Tests of the rack daemon."""
