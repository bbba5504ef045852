"""What a run is made of: its settings, its folder, its chains and what they tell while they move."""
