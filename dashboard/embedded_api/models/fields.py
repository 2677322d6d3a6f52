"""Columns that many tables share."""

from functools import partial
from typing import Any

from django.db import models

from dashboard.embedded_api.marks import new_id

ID_LENGTH = 255


def id_column(kind: str) -> "models.CharField[Any, str]":
    """Return a primary key of our own making: `page_…`; any other text is as good."""
    return models.CharField(
        primary_key=True, max_length=ID_LENGTH, default=partial(new_id, kind), editable=False
    )
