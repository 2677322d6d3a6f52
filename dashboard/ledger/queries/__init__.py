"""Queries of the ledger."""
