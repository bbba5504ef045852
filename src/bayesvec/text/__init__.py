"""From text to token ids: files, tables, words, vocabulary; `count` takes them on to pair counts."""
