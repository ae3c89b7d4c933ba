"""Views and other shapes of the same elements."""
