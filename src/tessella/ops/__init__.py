"""The table of operations, one file for each family."""
