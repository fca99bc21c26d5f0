"""Dagster's side of the lake: tables as assets, rules as checks, offsets as runs.

Imports the engine and is never imported by it: `lake/` publishes and audits without
Dagster, for the command line, the benches and the tests. Knows no table either.
"""
