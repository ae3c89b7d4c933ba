"""What passes share: patterns in graphs (`matcher_utils`), and nodes that may be fused (`fuser_utils`)."""
