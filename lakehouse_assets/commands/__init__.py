"""What one types: `lakehouse <command>`, a file per family. Heavy imports wait for a command."""
