"""The ledger as a Django app."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Tables of what was seen in answers and of what was asked for."""

    name = "dashboard.ledger"
    label = "ledger"
