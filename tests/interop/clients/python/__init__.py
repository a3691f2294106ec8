"""Python applications that are attached by their environment alone, and their libraries."""
