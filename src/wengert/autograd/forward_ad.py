"""Forward mode."""
