"""Measures and features computed from semantic tables."""
