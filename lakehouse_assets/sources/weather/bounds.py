"""What a reading may say; the logging server asks for it, and staging of what came around it."""

MAX_CITY = 255  # characters; and no NUL, which is no text in PostgreSQL
COLDEST, HOTTEST = -150, 200  # °F, both included
# A decimal number as one writes it; what only some language reads as a number is none.
NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
