"""Looking at tables as they stand, and writing nothing: their rules over all rows, and what no
single row can tell. Knows the engine, neither a table nor Dagster, which shows it as checks.
"""
