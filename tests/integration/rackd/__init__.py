"""Tests of rackd as a process."""
