"""Create a page: no input is lost, nothing is sent twice, and the service's errors are shown."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.contract.pages import Page
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_page
from tests.conftest import logged_in
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.page_form import NEW, WHOLE, bodies, creates, filled, problems, values

REQUIRED = {"name", "brandId", "pageContext"}
SENT = {
    "actions": [
        {
            "actionId": "book",
            "actionType": "calendar",
            "buttonTitle": "Book a call",
            "purpose": "Meeting",
            "url": "https://a.example/book",
        }
    ],
    "actionCardWidgets": [
        {
            "type": "logo_strip",
            "title": "Carriers",
            "logos": [
                {
                    "image": {
                        "url": "https://cdn.example/l.svg",
                        "altText": "Nordlys",
                        "fileId": "",
                        "assetId": "",
                    }
                }
            ],
        }
    ],
    "brandId": "brand_1",
    "footerLinks": [
        {
            "id": "",
            "title": "Legal",
            "links": [{"id": "", "text": "Imprint", "url": "https://a.example/imprint"}],
        }
    ],
    "headerActionId": "book",
    "metadata": {"title": "Meta", "keywords": ["fleet", "reefer"], "ogUrl": "https://a.example"},
    "name": "Spring outbound",
    "pageContext": "For carriers.\nSpeak plainly.",
    "pageType": "outbound",
    "scripts": [{"name": "Counter", "description": "", "content": "  count()\n", "enabled": True}],
}


def test_required_fields_are_marked(as_publisher: Client) -> None:
    html = as_publisher.get(NEW).text
    marked = [e for e in elements(html) if "required" in e.attributes.get("class", "").split()]
    assert {e.attributes.get("for") for e in marked} == {*REQUIRED, None}
    assert html.split('class="label required">')[1].startswith("Page type")
    assert "* Required" in text(html)


def test_the_whole_request_arrives_as_it_was_typed(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    response = as_publisher.post(NEW, filled())
    assert response.status_code == 302
    assert response["Location"] == "/pages/page_new/"
    assert bodies(fake_service) == [SENT]


def test_the_operation_is_on_record_with_its_page(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    as_publisher.post(NEW, filled())
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.ACCEPTED
    assert (operation.target_name, operation.page_id) == ("Spring outbound", "page_new")
    assert operation.body_sent == SENT
    assert operation.actor_name == "paula"


def test_a_second_click_sends_nothing(as_publisher: Client, fake_service: FakeService) -> None:
    creates(fake_service)
    form = filled()
    first, second = as_publisher.post(NEW, form), as_publisher.post(NEW, form)
    assert first["Location"] == second["Location"] == "/pages/page_new/"
    assert len(bodies(fake_service)) == 1


def test_a_page_needs_name_context_and_brand(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    least = {name: WHOLE[name] for name in ("name", "pageType", "brandId", "pageContext")}
    blank_row = {"actions.0.buttonTitle": "", "actions.0.url": " ", "scripts.3.enabled": "on"}
    response = as_publisher.post(NEW, least | blank_row | {"operation_key": str(uuid4())})
    assert response.status_code == 302
    sent = bodies(fake_service)[0]
    assert (sent["actions"], sent["actionCardWidgets"], sent["footerLinks"]) == ([], [], [])
    assert "metadata" not in sent
    assert "headerActionId" not in sent


def test_create_and_add_another_leads_to_an_empty_form(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    response = as_publisher.post(NEW, filled(another="1"), follow=True)
    assert response.redirect_chain == [(NEW, 302)]
    html = response.text
    assert "Created “Spring outbound”." in text(html)
    assert values(html)["name"] == ""


WRONG = [
    ({"name": " "}, "Name: Enter a name.", "name"),
    ({"pageContext": ""}, "Context: Enter a context.", "pageContext"),
    ({"brandId": ""}, "Brand ID: Enter a brand ID.", "brandId"),
    ({"pageType": "hologram"}, "Page type: Choose one of the five types.", "pageType_0"),
    ({"headerActionId": "gone"}, "Header action: No action below has", "headerActionId"),
    ({"actions.0.url": "javascript:alert(1)"}, "Action 1, URL: Start with", "actions.0.url"),
    ({"actions.0.url": "a.example"}, "Action 1, URL: Start with https://", "actions.0.url"),
    ({"footerLinks.0.links.0.url": "data:x"}, "Link 1, URL", "footerLinks.0.links.0.url"),
    ({"name": "a\0b"}, "Name: Null characters are not allowed.", "name"),
    ({"scripts.0.content": "\0"}, "Script 1, Content: Null", "scripts.0.content"),
    ({"metadata.canonicalUrl": "//x"}, "Canonical URL: Start with", "metadata.canonicalUrl"),
]


def test_errors_appear_at_their_fields_and_nothing_is_sent(
    as_publisher: Client, fake_service: FakeService, subtests: pytest.Subtests
) -> None:
    for differs, words, field in WRONG:
        with subtests.test(**differs):
            response = as_publisher.post(NEW, filled(**differs))
            html = response.text
            assert response.status_code == 422
            assert words in problems(html)
            assert f'href="#{field}"' in html
            assert [tag for tag in elements(html) if tag.attributes.get("id") == field]
            assert (bodies(fake_service), Operation.objects.count()) == ([], 0)


def test_everything_typed_is_there_after_an_error(
    as_publisher: Client, fake_service: FakeService
) -> None:
    html = as_publisher.post(NEW, filled(name="")).text
    fields = values(html)
    for name, value in WHOLE.items():
        if name in fields and name != "name":
            assert fields[name] == value
    assert "Speak plainly." in html
    assert "count()" in html
    assert '<option value="book" selected>Book a call (book)</option>' in html


@pytest.mark.parametrize(
    "path", ["actions.0.url", "actions[0].url", "/actions/0/url", "body.actions.0.url"]
)
def test_service_messages_appear_at_their_fields(
    as_publisher: Client, fake_service: FakeService, path: str
) -> None:
    fake_service.answers(422, json={"errors": [{"path": path, "message": "No such host"}]})
    blank_first = {"actions.7.url": WHOLE["actions.0.url"], "actions.0.url": ""}
    row = {name: "" for name in WHOLE if name.startswith("actions.0.")}
    response = as_publisher.post(NEW, filled(**row, headerActionId="") | blank_first)
    html = response.text
    assert response.status_code == 422
    assert "Action 1, URL: No such host" in problems(html)
    field = next(t for t in elements(html, "input") if t.attributes.get("id") == "actions.0.url")
    assert field.attributes["value"] == "https://a.example/book"
    assert field.attributes["aria-invalid"] == "true"


def test_messages_about_no_field_are_in_the_summary(
    as_publisher: Client, fake_service: FakeService
) -> None:
    errors = [{"path": "tenant", "message": "is closed"}, {"path": "", "message": "Not today"}]
    fake_service.answers(422, json={"errors": errors})
    html = as_publisher.post(NEW, filled()).text
    assert "tenant: is closed" in problems(html)
    assert "Not today" in problems(html)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 429])
def test_a_rejected_form_stays_filled(
    as_publisher: Client, fake_service: FakeService, status: int
) -> None:
    fake_service.answers(status, json={"detail": "Because"})
    form = filled()
    html = as_publisher.post(NEW, form).text
    assert f"The service returned {status}: Because" in problems(html)
    assert values(html)["name"] == "Spring outbound"
    assert values(html)["operation_key"] != form["operation_key"]
    creates(fake_service)
    again = as_publisher.post(NEW, WHOLE | {"operation_key": values(html)["operation_key"]})
    assert again["Location"] == "/pages/page_new/"


def test_reloading_a_rejected_form_sends_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answers(409, json={"detail": "Because"})
    form = filled()
    as_publisher.post(NEW, form)
    html = as_publisher.post(NEW, form).text
    assert "This form was already sent" in text(html)
    assert len(bodies(fake_service)) == 1


def test_the_key_of_another_operation_creates_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    creates(fake_service)
    form = filled()
    as_publisher.post(NEW, form)
    response = as_publisher.post(NEW, form | {"name": "Autumn outbound"})
    html = response.text
    assert response.status_code == 409
    assert "another request has this form’s operation key" in problems(html)
    assert values(html)["name"] == "Autumn outbound"
    assert len(bodies(fake_service)) == 1
    again = form | {"name": "Autumn outbound", "operation_key": values(html)["operation_key"]}
    as_publisher.post(NEW, again)
    assert [body["name"] for body in bodies(fake_service)] == ["Spring outbound", "Autumn outbound"]


def test_a_changed_unresolved_page_needs_a_check_first(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ReadError)
    form = filled()
    as_publisher.post(NEW, form)
    creates(fake_service)
    html = as_publisher.post(NEW, form | {"name": "Autumn outbound"}).text
    assert "Outcome unknown: the page may already exist. Everything you entered" in text(html)
    second = form | {name: values(html)[name] for name in ("operation_key", "after")}
    html = as_publisher.post(NEW, second).text
    assert "Check the newest pages first" in problems(html)
    assert len(bodies(fake_service)) == 1


LOST = [
    lambda fake_service: fake_service.fails(httpx.ReadTimeout),
    lambda fake_service: fake_service.answers(500, text="oops"),
    lambda fake_service: fake_service.answers(201, text="garbage"),
    lambda fake_service: fake_service.answers(201, json={"pageId": 3}),
]


@pytest.mark.parametrize("lose", LOST)
def test_an_unknown_outcome_is_checked_before_a_retry(
    as_publisher: Client, fake_service: FakeService, lose: Any
) -> None:
    lose(fake_service)
    html = as_publisher.post(NEW, filled()).text
    assert "Outcome unknown: the page may already exist" in text(html)
    assert Operation.objects.get().outcome == Outcome.UNKNOWN
    fields = values(html)
    creates(fake_service)
    second = WHOLE | {
        "operation_key": fields["operation_key"],
        "after": fields["after"],
    }
    html = as_publisher.post(NEW, second).text
    assert "Check the newest pages first" in problems(html)
    assert len(bodies(fake_service)) == 1
    assert as_publisher.post(NEW, second | {"checked_newest": "1"}).status_code == 302
    assert len(bodies(fake_service)) == 2


def test_a_page_of_another_request_settles_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ReadError)
    lost = filled()
    as_publisher.post(NEW, lost)
    sent = {name: SENT[name] for name in ("name", "brandId", "pageContext")}
    created = wire.page(pageId="page_new", createdAt=timezone.now().isoformat(), **sent)
    fake_service.answers(201, json=created)
    as_publisher.post(NEW, filled())
    fake_service.answers(200, json=wire.envelope(created))
    as_publisher.post(f"/activity/{lost['operation_key']}/check/")
    outcomes = dict(Operation.objects.values_list("operation_key", "outcome"))
    assert sorted(outcomes.values()) == [Outcome.ACCEPTED, Outcome.UNKNOWN]
    assert outcomes[lost["operation_key"]] == Outcome.UNKNOWN


def test_a_check_that_reads_nothing_leaves_the_outcome_unknown(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ReadError)
    lost = filled()
    as_publisher.post(NEW, lost)
    page = as_publisher.post(f"/activity/{lost['operation_key']}/check/", follow=True)
    assert Operation.objects.get().outcome == Outcome.UNKNOWN
    assert "check failed. The service closed the connection" in response_text(page)


def test_a_reload_after_an_unknown_outcome_sends_nothing(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ReadTimeout)
    form = filled()
    as_publisher.post(NEW, form)
    html = as_publisher.post(NEW, form).text
    assert "the page may already exist" in text(html)
    assert len(bodies(fake_service)) == 1


def test_a_request_never_sent_is_reported_and_recorded(
    as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ConnectError)
    html = as_publisher.post(NEW, filled()).text
    assert "Couldn't reach the service" in problems(html)
    assert "may already exist" not in text(html)
    assert Operation.objects.get().outcome == Outcome.NOT_SENT


@pytest.mark.parametrize("key", ["", "not-a-key", None])
def test_a_form_without_its_key_is_not_sent(
    as_publisher: Client, fake_service: FakeService, key: str | None
) -> None:
    form = WHOLE | ({} if key is None else {"operation_key": key})
    html = as_publisher.post(NEW, form).text
    assert "had no operation key" in problems(html)
    assert bodies(fake_service) == []


def rows(client: Client, command: str, form: dict[str, str] | None = None, target: str = "") -> str:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    data = filled() if form is None else form
    response = client.post(f"{NEW}rows/", data | {"rows": command}, headers=headers)
    assert response.status_code == 200
    return response.text


def test_adding_a_row_preserves_the_input(as_publisher: Client, fake_service: FakeService) -> None:
    html = rows(as_publisher, "add actions", filled(name=""))
    fields = values(html)
    assert fields["actions.0.url"] == WHOLE["actions.0.url"]
    assert fields["actions.1.url"] == ""
    assert 'class="problems"' not in html
    focused = [
        tag.attributes.get("id") for tag in elements(html) if "data-autofocus" in tag.attributes
    ]
    assert focused == ["actions.1.buttonTitle"]


def test_nested_rows_can_be_added_and_removed(
    as_publisher: Client, fake_service: FakeService
) -> None:
    more = values(rows(as_publisher, "add actionCardWidgets.0.logos"))
    assert more["actionCardWidgets.0.logos.1.image.altText"] == ""
    assert more["actionCardWidgets.0.logos.0.image.altText"] == "Nordlys"
    less = values(rows(as_publisher, "remove footerLinks.0.links.0"))
    assert "footerLinks.0.links.0.text" not in less
    assert less["footerLinks.0.title"] == "Legal"


def test_rows_change_places(as_publisher: Client, fake_service: FakeService) -> None:
    two = filled(**{"actions.4.url": "https://b.example", "actions.4.buttonTitle": "Second"})
    fields = values(rows(as_publisher, "up actions.1", two))
    assert (fields["actions.0.buttonTitle"], fields["actions.1.buttonTitle"]) == (
        "Second",
        "Book a call",
    )


UNKNOWN_COMMANDS = [
    *("", "add", "add nothing", "up actions.9", "remove actions", "remove actions.-1"),
    *("up x.y.z", "add actions.0", "add actions.x.logos", "down actions.0"),
    "remove actions.99999999999",
]


def test_an_unknown_command_changes_nothing(
    as_publisher: Client, fake_service: FakeService, subtests: pytest.Subtests
) -> None:
    before = values(rows(as_publisher, "refresh"))
    for command in UNKNOWN_COMMANDS:
        with subtests.test(command=command):
            after = values(rows(as_publisher, command))
            new = {name: after[name] for name in ("operation_key", "draft", "csrfmiddlewaretoken")}
            assert after == before | new


def test_htmx_gets_only_the_form_or_only_the_options(
    as_publisher: Client, fake_service: FakeService
) -> None:
    assert "<h1" not in rows(as_publisher, "add scripts", target="page-form")
    choices = rows(as_publisher, "refresh", target="header-action")
    assert "Book a call (book)" in choices
    assert "Context" not in choices
    previews = rows(as_publisher, "refresh", target="previews")
    assert "title 4, description 0 characters" in text(previews)
    assert "Brand ID" not in previews


def test_a_list_has_a_limit_of_rows(as_publisher: Client, fake_service: FakeService) -> None:
    full = filled(**{f"scripts.{n}.name": str(n) for n in range(50)})
    assert "Limit of 50 reached" in text(rows(as_publisher, "refresh", full))
    assert "scripts.50.name" not in values(rows(as_publisher, "add scripts", full))


def test_checking_sends_nothing(as_publisher: Client, fake_service: FakeService) -> None:
    html = as_publisher.post(f"{NEW}check/", filled()).text
    assert "No problems found" in text(html)
    assert fake_service.sent == []


def test_a_page_can_be_duplicated(as_publisher: Client, fake_service: FakeService) -> None:
    page = wire.page(
        actions=[{"actionIndex": 0, "actionId": "a", "buttonTitle": "Go", "url": "https://a.b"}],
        actionCardWidgets=[{"type": "x", "logos": [{"image": {"altText": "Alt"}}, {}]}],
        footerLinks=None,
        scripts=[{"name": "S", "content": "x()", "enabled": True}],
        metadata={"keywords": ["a", "b"], "robots": None, "ogImageUrl": "https://i.example"},
        headerActionId="a",
    )
    fake_service.answers(200, json=page)
    html = as_publisher.get(f"{NEW}?from=page_1").text
    form_values = values(html)
    assert form_values["name"] == "Fleet telematics"
    assert form_values["actionCardWidgets.0.logos.0.image.altText"] == "Alt"
    assert form_values["metadata.keywords"] == "a, b"
    assert '<option value="a" selected>Go (a)</option>' in html
    creates(fake_service)
    fake_service.sent.clear()
    checked = [t.attributes for t in elements(html, "input") if "checked" in t.attributes]
    boxes = {box["name"]: box.get("value", "on") for box in checked}
    areas = {"pageContext": "For regional carriers.", "scripts.0.content": "x()"}
    response = as_publisher.post(NEW, form_values | boxes | areas | {"headerActionId": "a"})
    assert response["Location"] == "/pages/page_new/"
    sent = bodies(fake_service)[0]
    assert sent["pageType"] == "outbound"
    assert sent["scripts"][0] == {"name": "S", "description": "", "content": "x()", "enabled": True}


def test_a_missing_page_cannot_be_duplicated(
    as_publisher: Client, fake_service: FakeService
) -> None:
    assert as_publisher.get(f"{NEW}?from=gone").status_code == 404


def test_a_form_from_the_last_known_page_says_so(
    as_publisher: Client, fake_service: FakeService
) -> None:
    record_page(Page.model_validate(wire.page()))
    fake_service.fails(httpx.ConnectError)
    html = as_publisher.get(f"{NEW}?from=page_1").text
    assert "Filled from the page’s last known state" in text(html)
    assert values(html)["name"] == "Fleet telematics"


def test_a_viewer_is_rejected(as_viewer: Client, fake_service: FakeService) -> None:
    for answer in (as_viewer.get(NEW), as_viewer.post(NEW, filled())):
        assert answer.status_code == 403
        assert "You need the Publisher role to create pages." in response_text(answer)
    assert fake_service.sent == []


def test_two_users_with_their_own_forms_create_two_pages(
    as_publisher: Client, fake_service: FakeService, django_user_model: type[User]
) -> None:
    creates(fake_service)
    root = django_user_model.objects.create_superuser("root")
    as_publisher.post(NEW, filled())
    logged_in(root).post(NEW, filled())
    assert len(bodies(fake_service)) == 2


def test_unknown_form_names_are_left_out(as_publisher: Client, fake_service: FakeService) -> None:
    creates(fake_service)
    odd = {"actions.0": "x", "actions.0.url.deep": "x", "actions": "x", "tenantId": "x"}
    assert as_publisher.post(NEW, filled(**odd)).status_code == 302
    assert bodies(fake_service) == [SENT]


@pytest.mark.parametrize("act", ["check", "rows", "field", "discard"])
def test_each_act_of_the_form_has_its_url(
    as_publisher: Client, as_viewer: Client, fake_service: FakeService, act: str
) -> None:
    assert as_publisher.get(f"{NEW}{act}/")["Location"] == NEW
    assert as_publisher.post(f"{NEW}{act}/", filled()).status_code in (200, 204, 302)
    assert bodies(fake_service) == []
    assert as_viewer.post(f"{NEW}{act}/").status_code == 403
