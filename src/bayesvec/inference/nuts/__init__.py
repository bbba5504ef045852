"""NUTS."""
