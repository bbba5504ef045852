"""The posterior density, its mode, and how it is identified."""
