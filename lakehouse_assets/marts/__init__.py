"""Answers for people, named by entity and grain."""
