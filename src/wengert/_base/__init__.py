"""The foundation: errors, dtypes, modes and the table of operators. Nothing here knows the class Tensor."""
