"""All operations, and one operation with check and retry."""
