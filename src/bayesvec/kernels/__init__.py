"""The compiled inner loops: random numbers, Polya-Gamma draws, row updates."""
