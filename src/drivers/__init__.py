"""Drivers: one module or package for each kind of chassis. Floor 1: sole importers of vendor libraries."""
