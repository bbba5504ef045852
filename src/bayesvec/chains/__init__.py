"""The driver of all chains: where they start, how they move into a backend, what they show."""
