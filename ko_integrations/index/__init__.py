"""The semantic index: its contract, exact search in memory, and Chroma."""
