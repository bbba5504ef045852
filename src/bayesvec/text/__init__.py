"""Text to counts: files, words, token ids, windows, pairs."""
