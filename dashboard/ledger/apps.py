"""The ledger as a Django app."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Tables of objects read from the service, and of operations."""

    name = "dashboard.ledger"
    label = "ledger"
