"""Where captured rows come from: the shop's database as Dagster sees it, what it keeps for who
captures its changes, and whether the lake still says what it says. Nothing here writes.
"""
