"""Create a page: no input is lost, nothing is sent twice, and the service's errors are shown."""

from collections.abc import Callable
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
from tests.support.html import elements, response_text
from tests.support.page_form import NEW, WHOLE, PageForm, filled

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


def test_required_fields_are_marked(form: PageForm) -> None:
    html = form.open().html
    marked = [e for e in elements(html) if "required" in e.attributes.get("class", "").split()]
    assert {e.attributes.get("for") for e in marked} == {*REQUIRED, None}
    assert html.split('class="label required">')[1].startswith("Page type")
    assert "* Required" in form.text


def test_the_whole_request_arrives_as_it_was_typed(form: PageForm) -> None:
    assert form.submit().status == 302
    assert form.location == "/pages/page_new/"
    assert form.bodies == [SENT]


def test_the_operation_is_on_record_with_its_page(form: PageForm) -> None:
    form.submit()
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.ACCEPTED
    assert (operation.target_name, operation.page_id) == ("Spring outbound", "page_new")
    assert operation.body_sent == SENT
    assert operation.actor_name == "paula"


def test_a_second_click_sends_nothing(form: PageForm) -> None:
    fields = filled()
    assert [form.post(fields).location for _ in range(2)] == ["/pages/page_new/"] * 2
    assert len(form.bodies) == 1


def test_a_page_needs_name_context_and_brand(form: PageForm) -> None:
    least = {name: WHOLE[name] for name in ("name", "pageType", "brandId", "pageContext")}
    blank_row = {"actions.0.buttonTitle": "", "actions.0.url": " ", "scripts.3.enabled": "on"}
    assert form.post(least | blank_row | {"operation_key": str(uuid4())}).status == 302
    sent = form.bodies[0]
    assert (sent["actions"], sent["actionCardWidgets"], sent["footerLinks"]) == ([], [], [])
    assert "metadata" not in sent
    assert "headerActionId" not in sent


def test_create_and_add_another_leads_to_an_empty_form(form: PageForm) -> None:
    assert form.submit(another="1").location == NEW
    assert "Created “Spring outbound”." in form.open().text
    assert form.fields["name"] == ""


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
    form: PageForm, subtests: pytest.Subtests
) -> None:
    for differs, words, field in WRONG:
        with subtests.test(**differs):
            assert form.submit(**differs).status == 422
            assert words in form.problems
            assert f'href="#{field}"' in form.html
            assert [tag for tag in elements(form.html) if tag.attributes.get("id") == field]
            assert (form.bodies, Operation.objects.count()) == ([], 0)


def test_everything_typed_is_there_after_an_error(form: PageForm) -> None:
    fields = form.submit(name="").fields
    assert {name: fields[name] for name in WHOLE if name in fields} == {
        name: value for name, value in (WHOLE | {"name": ""}).items() if name in fields
    }
    assert "Speak plainly." in form.html
    assert "count()" in form.html
    assert '<option value="book" selected>Book a call (book)</option>' in form.html


@pytest.mark.parametrize(
    "path", ["actions.0.url", "actions[0].url", "/actions/0/url", "body.actions.0.url"]
)
def test_service_messages_appear_at_their_fields(form: PageForm, path: str) -> None:
    form.service.answers(422, json={"errors": [{"path": path, "message": "No such host"}]})
    blank_first = {"actions.7.url": WHOLE["actions.0.url"], "actions.0.url": ""}
    row = {name: "" for name in WHOLE if name.startswith("actions.0.")}
    assert form.submit(**row | blank_first, headerActionId="").status == 422
    assert "Action 1, URL: No such host" in form.problems
    inputs = elements(form.html, "input")
    field = next(tag for tag in inputs if tag.attributes.get("id") == "actions.0.url")
    assert field.attributes["value"] == "https://a.example/book"
    assert field.attributes["aria-invalid"] == "true"


def test_messages_about_no_field_are_in_the_summary(form: PageForm) -> None:
    errors = [{"path": "tenant", "message": "is closed"}, {"path": "", "message": "Not today"}]
    form.service.answers(422, json={"errors": errors})
    assert "tenant: is closed" in form.submit().problems
    assert "Not today" in form.problems


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 429])
def test_a_rejected_form_stays_filled(form: PageForm, status: int) -> None:
    form.service.answers(status, json={"detail": "Because"})
    fields = filled()
    assert f"The service returned {status}: Because" in form.post(fields).problems
    assert form.fields["name"] == "Spring outbound"
    new_key = form.fields["operation_key"]
    assert new_key != fields["operation_key"]
    form.creates()
    assert form.submit(operation_key=new_key).location == "/pages/page_new/"


def test_reloading_a_rejected_form_sends_nothing(form: PageForm) -> None:
    form.service.answers(409, json={"detail": "Because"})
    fields = filled()
    assert "This form was already sent" in form.post(fields).post(fields).text
    assert len(form.bodies) == 1


def test_the_key_of_another_operation_creates_nothing(form: PageForm) -> None:
    fields = filled()
    renamed = fields | {"name": "Autumn outbound"}
    assert form.post(fields).post(renamed).status == 409
    assert "another request has this form’s operation key" in form.problems
    assert form.fields["name"] == "Autumn outbound"
    assert len(form.bodies) == 1
    form.post(renamed | {"operation_key": form.fields["operation_key"]})
    assert [body["name"] for body in form.bodies] == ["Spring outbound", "Autumn outbound"]


def check_again(form: PageForm) -> dict[str, str]:
    """Submit the form of an unresolved page without a check; return its fields."""
    second = WHOLE | {name: form.fields[name] for name in ("operation_key", "after")}
    assert "Check the newest pages first" in form.post(second).problems
    assert len(form.bodies) == 1
    return second


def test_a_changed_unresolved_page_needs_a_check_first(form: PageForm) -> None:
    form.service.fails(httpx.ReadError)
    fields = filled()
    form.post(fields)
    form.creates()
    form.post(fields | {"name": "Autumn outbound"})
    assert "Outcome unknown: the page may already exist. Everything you entered" in form.text
    check_again(form)


LOST: list[Callable[[FakeService], None]] = [
    lambda service: service.fails(httpx.ReadTimeout),
    lambda service: service.answers(500, text="oops"),
    lambda service: service.answers(201, text="garbage"),
    lambda service: service.answers(201, json={"pageId": 3}),
]


@pytest.mark.parametrize("lose", LOST)
def test_an_unknown_outcome_is_checked_before_a_retry(
    form: PageForm, lose: Callable[[FakeService], None]
) -> None:
    lose(form.service)
    assert "Outcome unknown: the page may already exist" in form.submit().text
    assert Operation.objects.get().outcome == Outcome.UNKNOWN
    form.creates()
    second = check_again(form)
    assert form.post(second | {"checked_newest": "1"}).status == 302
    assert len(form.bodies) == 2


def test_a_page_of_another_request_settles_nothing(form: PageForm) -> None:
    form.service.fails(httpx.ReadError)
    lost = filled()
    form.post(lost)
    sent = {name: SENT[name] for name in ("name", "brandId", "pageContext")}
    created = wire.page(pageId="page_new", createdAt=timezone.now().isoformat(), **sent)
    form.service.answers(201, json=created)
    form.submit()
    form.service.answers(200, json=wire.envelope(created))
    form.client.post(f"/activity/{lost['operation_key']}/check/")
    outcomes = dict(Operation.objects.values_list("operation_key", "outcome"))
    assert sorted(outcomes.values()) == [Outcome.ACCEPTED, Outcome.UNKNOWN]
    assert outcomes[lost["operation_key"]] == Outcome.UNKNOWN


def test_a_check_that_reads_nothing_leaves_the_outcome_unknown(form: PageForm) -> None:
    form.service.fails(httpx.ReadError)
    form.submit()
    operation = Operation.objects.get()
    page = form.client.post(f"/activity/{operation.operation_key}/check/", follow=True)
    operation.refresh_from_db()
    assert operation.outcome == Outcome.UNKNOWN
    assert "check failed. The service closed the connection" in response_text(page)


def test_a_reload_after_an_unknown_outcome_sends_nothing(form: PageForm) -> None:
    form.service.fails(httpx.ReadTimeout)
    fields = filled()
    assert "the page may already exist" in form.post(fields).post(fields).text
    assert len(form.bodies) == 1


def test_a_request_never_sent_is_reported_and_recorded(form: PageForm) -> None:
    form.service.fails(httpx.ConnectError)
    assert "Couldn’t reach the service" in form.submit().problems
    assert "may already exist" not in form.text
    assert Operation.objects.get().outcome == Outcome.NOT_SENT


@pytest.mark.parametrize("key", [{"operation_key": ""}, {"operation_key": "not-a-key"}, {}])
def test_a_form_without_its_key_is_not_sent(form: PageForm, key: dict[str, str]) -> None:
    assert "had no operation key" in form.post(WHOLE | key).problems
    assert form.bodies == []


def test_adding_a_row_preserves_the_input(form: PageForm) -> None:
    fields = form.rows("add actions", filled(name=""))
    assert fields["actions.0.url"] == WHOLE["actions.0.url"]
    assert fields["actions.1.url"] == ""
    assert 'class="problems"' not in form.html
    [focused] = [e.attributes for e in elements(form.html) if "data-autofocus" in e.attributes]
    assert focused["id"] == "actions.1.buttonTitle"


def test_nested_rows_can_be_added_and_removed(form: PageForm) -> None:
    more = form.rows("add actionCardWidgets.0.logos")
    assert more["actionCardWidgets.0.logos.1.image.altText"] == ""
    assert more["actionCardWidgets.0.logos.0.image.altText"] == "Nordlys"
    less = form.rows("remove footerLinks.0.links.0")
    assert "footerLinks.0.links.0.text" not in less
    assert less["footerLinks.0.title"] == "Legal"


def test_rows_change_places(form: PageForm) -> None:
    two = filled(**{"actions.4.url": "https://b.example", "actions.4.buttonTitle": "Second"})
    fields = form.rows("up actions.1", two)
    titles = [fields[f"actions.{number}.buttonTitle"] for number in (0, 1)]
    assert titles == ["Second", "Book a call"]


UNKNOWN_COMMANDS = [
    *("", "add", "add nothing", "up actions.9", "remove actions", "remove actions.-1"),
    *("up x.y.z", "add actions.0", "add actions.x.logos", "down actions.0"),
    "remove actions.99999999999",
]


def test_an_unknown_command_changes_nothing(form: PageForm, subtests: pytest.Subtests) -> None:
    before = form.rows("refresh")
    for command in UNKNOWN_COMMANDS:
        with subtests.test(command=command):
            after = form.rows(command)
            new = {name: after[name] for name in ("operation_key", "draft", "csrfmiddlewaretoken")}
            assert after == before | new


def test_htmx_gets_only_the_form_or_only_the_options(form: PageForm) -> None:
    form.rows("add scripts", target="page-form")
    assert "<h1" not in form.html
    form.rows("refresh", target="header-action")
    assert "Book a call (book)" in form.html
    assert "Context" not in form.html
    form.rows("refresh", target="previews")
    assert "No description Search engines" in form.text
    assert "Brand ID" not in form.html


def test_a_list_has_a_limit_of_rows(form: PageForm) -> None:
    full = filled(**{f"scripts.{n}.name": str(n) for n in range(50)})
    form.rows("refresh", full)
    assert "Limit of 50 reached" in form.text
    assert "scripts.50.name" not in form.rows("add scripts", full)


def test_checking_sends_nothing(form: PageForm) -> None:
    assert "No problems found" in form.post(filled(), "check/").text
    assert form.service.sent == []


def test_a_page_can_be_duplicated(form: PageForm) -> None:
    page = wire.page(
        actions=[{"actionIndex": 0, "actionId": "a", "buttonTitle": "Go", "url": "https://a.b"}],
        actionCardWidgets=[{"type": "x", "logos": [{"image": {"altText": "Alt"}}, {}]}],
        footerLinks=None,
        scripts=[{"name": "S", "content": "x()", "enabled": True}],
        metadata={"keywords": ["a", "b"], "robots": None, "ogImageUrl": "https://i.example"},
        headerActionId="a",
    )
    form.service.answers(200, json=page)
    fields = form.open(f"{NEW}?from=page_1").fields
    assert fields["name"] == "Fleet telematics"
    assert fields["actionCardWidgets.0.logos.0.image.altText"] == "Alt"
    assert fields["metadata.keywords"] == "a, b"
    assert '<option value="a" selected>Go (a)</option>' in form.html
    form.creates()
    checked = [e.attributes for e in elements(form.html, "input") if "checked" in e.attributes]
    boxes = {box["name"]: box.get("value", "on") for box in checked}
    areas = {"pageContext": "For regional carriers.", "scripts.0.content": "x()"}
    form.post(fields | boxes | areas | {"headerActionId": "a"})
    assert form.location == "/pages/page_new/"
    sent = form.bodies[0]
    assert sent["pageType"] == "outbound"
    assert sent["scripts"][0] == {"name": "S", "description": "", "content": "x()", "enabled": True}


def test_a_missing_page_cannot_be_duplicated(form: PageForm) -> None:
    form.service.answers(404, json={"detail": "Nothing"})
    assert form.open(f"{NEW}?from=gone").status == 404


def test_a_form_from_the_last_known_page_says_so(form: PageForm) -> None:
    record_page(Page.model_validate(wire.page()))
    form.service.fails(httpx.ConnectError)
    form.open(f"{NEW}?from=page_1")
    assert "Filled from the page’s last known state" in form.text
    assert form.fields["name"] == "Fleet telematics"


def test_a_viewer_is_rejected(as_viewer: Client, fake_service: FakeService) -> None:
    form = PageForm(as_viewer, fake_service)
    for use in (form.open, form.submit):
        assert use().status == 403
        assert "You need the Publisher role to create pages." in form.text
    assert fake_service.sent == []


def test_two_users_with_their_own_forms_create_two_pages(
    form: PageForm, django_user_model: type[User]
) -> None:
    root = django_user_model.objects.create_superuser("root")
    form.submit()
    PageForm(logged_in(root), form.service).submit()
    assert len(form.bodies) == 2


def test_unknown_form_names_are_left_out(form: PageForm) -> None:
    odd = {"actions.0": "x", "actions.0.url.deep": "x", "actions": "x", "tenantId": "x"}
    assert form.submit(**odd).status == 302
    assert form.bodies == [SENT]


@pytest.mark.parametrize("act", ["check/", "rows/", "field/", "discard/"])
def test_each_act_of_the_form_has_its_url(form: PageForm, as_viewer: Client, act: str) -> None:
    assert form.client.get(f"{NEW}{act}")["Location"] == NEW
    assert form.post(filled(), act).status in (200, 204, 302)
    assert form.bodies == []
    assert as_viewer.post(f"{NEW}{act}").status_code == 403


def test_findings_are_beside_their_fields(form: PageForm) -> None:
    form.creates()
    dead = {"footerLinks.0.links.0.url": ""}
    form.leave("footerLinks.0.links.0.url", filled(**dead))
    assert "Link without a URL: Footer, “Imprint”" in form.text
    assert form.submit(**dead).status == 422
    assert "visitors can’t open a link" in form.problems
    assert form.bodies == []
    assert "No description Search engines" in form.text
    form.submit(**dead, findings=form.fields["findings"])
    assert [body["name"] for body in form.bodies] == ["Spring outbound"]


def test_an_empty_form_has_no_findings(form: PageForm) -> None:
    words = form.open().text.replace("Press Check to see findings beside the fields.", "")
    assert "finding" not in words
