from ._kinds import parametric as parametric
