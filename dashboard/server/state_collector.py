"""Metrics computed on request: open operations and the health of the service.

Imported late, as `dashboard.observability.instruments` is.
"""

from collections.abc import Iterator
from contextlib import suppress

from django.db import Error
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from dashboard.ledger.queries.operations import count_open
from dashboard.service.circuit_breaker import READS, open_circuits
from dashboard.service.health import health_now


class StateCollector(Collector):
    """Collects the current state."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield open operations, open circuits and the health of the service."""
        # Without a database, only the open operations are missing.
        with suppress(Error):
            message = "Operations without an outcome yet"
            gauge = GaugeMetricFamily("pressroom_operations_open", message, labels=["outcome"])
            for outcome, count in count_open().items():
                gauge.add_metric([outcome], count)
            yield gauge
        message = "Whether the circuit of an operation is open, after calls without a response"
        gauge = GaugeMetricFamily("pressroom_service_held_back", message, labels=["operation"])
        broken = open_circuits()
        for operation in READS:
            gauge.add_metric([operation], operation in broken)
        yield gauge
        health = health_now()
        if health.is_responding is not None:
            message = "Whether the last call of the service got a response"
            yield GaugeMetricFamily(
                "pressroom_service_answering", message, value=health.is_responding
            )
            message = "Whether the service rejected our key in the last call"
            yield GaugeMetricFamily(
                "pressroom_service_key_refused", message, value=health.is_key_rejected
            )
