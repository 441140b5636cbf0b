"""Tests of the adaptive thread pool."""
