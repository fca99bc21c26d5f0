"""What the lake says of itself. Derived like any table; nothing reads it to decide."""
