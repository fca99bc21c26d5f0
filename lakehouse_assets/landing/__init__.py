"""What the lake leaves for others, outside its tables: files that anybody can read.

Here: each hour of a captured table's records as one Avro file, replaced whole. What is left is made
of a raw table's rows and can be made of them again; nothing in the lake reads it, and no table
knows of it. Read `hours.py` first, then `container.py`; `asset.py` shows it to Dagster.
"""
