"""How an operator is declared and its functions are made; the slow path; ``out=``."""
