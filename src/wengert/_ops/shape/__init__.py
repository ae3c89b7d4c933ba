"""Operators that change shapes: views, reshaping, joining, splitting, rearranging."""
