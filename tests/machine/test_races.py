"""Two requests of machines at the same moment."""

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from dashboard.approvals.models import ApprovalRequest
from dashboard.releases.models import Release, ReleaseState
from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.interleaving import before_response, before_statement, begun, held_at
from tests.support.machines import JsonInterface, ids, new_token, planned, row_of
from tests.support.many_audiences import Key

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def test_a_key_is_in_progress_until_its_answer(
    interface: JsonInterface, fake_service: FakeService, key: Key
) -> None:
    plan = partial(interface.act, "plan", key="one", versions=[ids(key)])
    with held_at(before_response(fake_service, "/audiences"), plan) as planning:
        assert plan()[0] == 409
    assert plan() == planning.result()
    assert Release.objects.count() == 1


def test_a_plan_requested_while_it_is_canceled_is_withdrawn(
    interface: JsonInterface, paula: User, key: Key
) -> None:
    plan = planned(interface, key)
    cancel = partial(interface.act, "cancel", plan=plan["plan"])
    with held_at(before_statement("SELECT", "machine_machineplan", nth=2), cancel) as canceling:
        other = JsonInterface(new_token(paula))
        assert other.act("request", plan=plan["plan"], digest=plan["digest"])[0] == 200
    status, body = canceling.result()
    assert (status, body["state"]) == (200, "canceled")
    assert Release.objects.get().state == ReleaseState.CANCELED
    assert not ApprovalRequest.objects.filter(state="open").exists()


@pytest.fixture
def amy(db: None) -> User:
    """An administrator who may publish."""
    return person("amy", "Administrators", "Publishers")


@pytest.fixture
def build(amy: User, key: Key) -> JsonInterface:
    """The JSON API, with a token of a service that Amy owns."""
    return JsonInterface(new_token(amy, is_service=True))


def change_owner(build: JsonInterface, owner: User) -> None:
    """Give the token to another administrator who may publish."""
    ann = person("ann", "Administrators", "Publishers")
    url = reverse("token-owner", args=[row_of(build.token).pk])
    assert logged_in(owner).post(url, {"owner": str(ann.pk)}).status_code == 302


@pytest.mark.parametrize("act", ["request", "publish"])
def test_a_token_with_another_owner_decides_nothing(
    build: JsonInterface, fake_service: FakeService, amy: User, key: Key, act: str
) -> None:
    plan = planned(build, key)
    decide = partial(build.act, act, plan=plan["plan"], digest=plan["digest"])
    with held_at(before_response(fake_service, "/audiences"), decide) as deciding:
        change_owner(build, amy)
    status, body = deciding.result()
    assert (status, body["detail"]) == (409, "The token was revoked, or has another owner.")
    assert Release.objects.get().state == ReleaseState.DRAFT


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_another_owner_voids_a_request_made_at_that_moment(
    build: JsonInterface, amy: User, key: Key
) -> None:
    plan = planned(build, key)
    request = partial(build.act, "request", plan=plan["plan"], digest=plan["digest"])
    with held_at(before_statement("INSERT INTO", "approvals_approvalrequest"), request):
        at_token = before_statement('UPDATE "machine_machinetoken"', '"owner_id"')
        changing = begun(at_token, change_owner, build, amy)
    changing.result()
    assert ApprovalRequest.objects.get().state == "void"
