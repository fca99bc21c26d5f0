"""What the events mean: one row per business thing, in one vocabulary."""
