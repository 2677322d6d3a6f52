"""The alert rules and the Grafana dashboard in `config/deploy/` match what /metrics exports."""

import json
import os
import re
import shutil
import subprocess
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from config.environment import BASE_DIR
from dashboard.ledger.crawls import take_crawl
from dashboard.ledger.models import Crawl
from dashboard.observability.metrics import get_metrics
from dashboard.releases.models import WorkerHeartbeat
from tests.support.fake_service import FakeService

PROMETHEUS = BASE_DIR / "config" / "deploy" / "prometheus"
DASHBOARD = BASE_DIR / "config" / "deploy" / "grafana" / "pressroom.json"
TOKEN = "a-token-of-the-tests"


@pytest.mark.same_on_any_database
def test_each_alert_fires_when_it_should() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("REQUIRE_PROMTOOL"):
            raise AssertionError("NO PROMTOOL, and REQUIRE_PROMTOOL is set")
        pytest.skip("NO PROMTOOL: install Debian's package prometheus.")
    for action, file in (("check", "pressroom.rules.yml"), ("test", "pressroom.rules.test.yml")):
        command = [promtool, action, "rules", str(PROMETHEUS / file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.django_db
def test_rules_and_dashboard_name_metrics_that_exist(
    as_publisher: Client, fake_service: FakeService, settings: Any
) -> None:
    settings.METRICS_TOKEN = TOKEN
    get_metrics.cache_clear()
    now = timezone.now()
    WorkerHeartbeat.objects.create(worker_id="one", started_at=now, active_at=now)
    take_crawl("one", now)
    Crawl.objects.update(finished_at=now, pages_in_all=1, calls_per_second=5)
    as_publisher.get("/pages/page_1/")
    exported = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    names = set(re.findall(r"^# TYPE (\w+)", exported, re.M))
    names |= {f"{name}_bucket" for name in names}
    get_metrics.cache_clear()
    board = json.loads(DASHBOARD.read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = (PROMETHEUS / "pressroom.rules.yml").read_text()
    expressions += re.findall(r"expr: (.*(?:\n {10}.*)*)", rules)
    used = set(re.findall(r"pressroom_\w+", " ".join(expressions)))
    assert len(used) > 12
    assert used <= names
