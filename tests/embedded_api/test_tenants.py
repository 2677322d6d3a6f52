"""Tenants are isolated: no call of one tenant reads or changes another's objects."""

import json
from typing import Any
from urllib.parse import quote

from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.embedded_api.models import Tenant
from tests.embedded_api.conftest import Caller
from tests.support.embedded_api_factories import (
    make_audience,
    make_conversation,
    make_page,
    make_person,
    make_subscription,
    make_version,
    other_tenant,
)

SECRET = "belongs-to-the-other"
JSON = "application/json"


class Things:
    def __init__(self, tenant: Tenant | None, name: str) -> None:
        more = {"tenant": tenant} if tenant else {}
        page = make_page(name=name, **more)
        audience = make_conversation(make_audience(page)).audience
        self.page, self.audience = page.id, audience.id
        self.version = make_version(audience).id
        self.subscription = make_subscription(url=f"https://{name}.example", **more).id
        make_person(name=name, **more)

    def calls(self) -> list[tuple[str, str]]:
        page = f"/v0/pages/{quote(self.page, safe='')}"
        audience = f"{page}/audiences/{quote(self.audience, safe='')}"
        return [
            ("GET", "/v0/pages?limit=200"),
            ("GET", page),
            ("GET", f"{page}/audiences"),
            ("GET", f"{audience}/messages"),
            ("GET", "/v0/persons?limit=200"),
            ("GET", "/v0/persons/search?query=other"),
            ("GET", f"/v0/persons/search?query={SECRET}"),
            ("POST", f"{audience}/versions/{quote(self.version, safe='')}/publish"),
            ("PATCH", f"/v0/webhook_subscriptions/{quote(self.subscription, safe='')}"),
        ]


BODIES = [
    {},
    {"operationKey": "the-same-key"},
    {"active": False},
    {"url": "https://mine.example/"},
    {"tenantId": "somebody-else"},
]


def call(client: Client, method: str, path: str, body: Any) -> Any:
    if method == "GET":
        return client.get(path)
    return client.generic(method, path, json.dumps(body), content_type=JSON)


def all_of(client: Client, things: Things) -> list[Any]:
    reads = [path for method, path in things.calls() if method == "GET"]
    response = [client.get(path).json() for path in reads]
    patch = things.calls()[-1][1]
    return [*response, client.patch(patch, "{}", content_type=JSON).json()]


def test_no_calls_of_a_tenant_reach_another(caller_of: Caller) -> None:
    theirs, mine = other_tenant(), None
    their_things, my_things = Things(theirs, SECRET), Things(mine, "mine")
    them, me = caller_of(theirs), caller_of()
    before = all_of(them, their_things)
    choices = st.tuples(st.booleans(), st.integers(0, 8), st.sampled_from(BODIES))

    @settings(max_examples=30, suppress_health_check=list(HealthCheck))
    @given(st.lists(choices, min_size=1, max_size=12))
    def tried(calls: list[tuple[bool, int, Any]]) -> None:
        for is_theirs, which, body in calls:
            things = their_things if is_theirs else my_things
            method, path = things.calls()[which]
            answer = call(me, method, path, body)
            assert answer.status_code < 500
            assert SECRET not in answer.text
            if is_theirs and path.startswith(("/v0/pages/", "/v0/webhook")):
                assert answer.status_code in {404, 422}
        assert all_of(them, their_things) == before

    tried()
