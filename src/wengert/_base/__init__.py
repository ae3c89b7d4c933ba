"""What everything stands on: errors, dtypes, modes, the table of operators. Knows no tensor."""
