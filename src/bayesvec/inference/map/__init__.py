"""The MAP."""
