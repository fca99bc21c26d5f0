"""One row per event, cleaned and typed; rows that break a rule are set aside. Never joins, never
sums.
"""
