from ._kinds import unary as unary
