"""One row per event, or per thing as it last was, cleaned and typed. Never joins, never sums.

What can be mended is mended or becomes NULL, and `is_dirty` says so. A row without which no one
could tell what happened, to what, when or for how much is set aside (`refuses`). A rule that says
`refuses=False` counts rows that are poorer than they should be, and keeps them: money moved.
"""
