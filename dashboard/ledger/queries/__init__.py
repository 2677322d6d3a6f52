"""Reading the ledger."""
