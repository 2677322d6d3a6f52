"""Every resource of the spec, read from JSON that was copied from the spec by hand."""

from typing import Any

import pytest
from pydantic import ValidationError

from dashboard.contract.audiences import Audience, AudienceVersion, PublishRequest, VersionStatus
from dashboard.contract.conversations import Conversation, Message
from dashboard.contract.metadata import Metadata, MetadataRequest
from dashboard.contract.pages import Page, PageItem, PageRequest, PageStatus, PageType
from dashboard.contract.people import Person
from dashboard.contract.webhooks import EventName, SubscriptionPatch, WebhookSubscription
from dashboard.contract.wire import WireModel
from tests.support import examples

ALL: list[tuple[type[WireModel], dict[str, Any]]] = [
    (Page, examples.PAGE),
    (PageItem, examples.PAGE),
    (PageRequest, examples.PAGE_REQUEST),
    (Metadata, examples.METADATA),
    (MetadataRequest, examples.METADATA_REQUEST),
    (AudienceVersion, examples.VERSION),
    (Audience, examples.AUDIENCE),
    (Conversation, examples.CONVERSATION),
    (Message, examples.MESSAGE),
    (Person, examples.PERSON),
    (WebhookSubscription, examples.SUBSCRIPTION),
    (SubscriptionPatch, {"url": "https://hooks.example/", "events": [], "active": False}),
    (PublishRequest, {"operationKey": "key-1"}),
]
REQUIRED: dict[type[WireModel], str] = {
    Page: "actions actionCardWidgets archivedAt audiencesCount brandId createdAt deletedAt name"
    " pageContext pageId pageType scripts status tenantId title updatedAt",
    PageItem: "actions actionCardWidgets archivedAt audiencesCount brandId createdAt deletedAt"
    " name pageContext pageId scripts tenantId title updatedAt",
    PageRequest: "actions actionCardWidgets brandId name pageContext scripts",
    AudienceVersion: " ".join(examples.VERSION),
    Conversation: "conversation messages context pendingChanges",
    WebhookSubscription: " ".join(examples.SUBSCRIPTION),
}
NULLABLE: dict[type[WireModel], str] = {
    Page: "archivedAt deletedAt",
    AudienceVersion: "archivedAt becameDraftAt cancelledAt obsoleteAt publishedAt queueDurationMs"
    " queuedAt supplementaryContext",
    WebhookSubscription: "events",
}
NULLABLE[PageItem] = NULLABLE[Page]
EXAMPLES = dict(ALL)
each_required = pytest.mark.parametrize(
    ("model", "name"),
    [(model, name) for model, names in REQUIRED.items() for name in names.split()],
)


def problem_of(model: type[WireModel], data: Any) -> tuple[Any, ...]:
    """Return the path of the first problem."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return caught.value.errors()[0]["loc"]


@pytest.mark.parametrize(("model", "data"), ALL)
def test_each_field_of_the_spec_is_known_by_name(
    model: type[WireModel], data: dict[str, Any]
) -> None:
    assert model.model_validate(data).model_extra == {}


@pytest.mark.parametrize(("model", "data"), ALL)
def test_what_was_read_is_written_as_it_was(model: type[WireModel], data: dict[str, Any]) -> None:
    assert model.model_validate(data).to_wire() == data


@pytest.mark.parametrize(("model", "data"), ALL)
def test_an_unknown_field_is_preserved(model: type[WireModel], data: dict[str, Any]) -> None:
    read = model.model_validate(data | {"colourOfDoor": {"red": 1}})
    assert read.model_extra == {"colourOfDoor": {"red": 1}}


@each_required
def test_a_missing_required_field_is_named(model: type[WireModel], name: str) -> None:
    data = {key: value for key, value in EXAMPLES[model].items() if key != name}
    assert problem_of(model, data) == (name,)


@each_required
def test_null_is_accepted_only_where_the_spec_allows_it(model: type[WireModel], name: str) -> None:
    data = EXAMPLES[model] | {name: None}
    if name in NULLABLE.get(model, "").split():
        assert model.model_validate(data).to_wire()[name] is None
    else:
        assert problem_of(model, data) == (name,)


@pytest.mark.parametrize(
    ("model", "data"), [(model, data) for model, data in ALL if model not in REQUIRED]
)
def test_where_nothing_is_required_an_empty_object_is_enough(
    model: type[WireModel], data: dict[str, Any]
) -> None:
    assert model.model_validate({}).to_wire() == {}
    assert model.model_validate(dict.fromkeys(data)).to_wire() == dict.fromkeys(data)


def test_pages_of_a_list_may_lack_type_and_status() -> None:
    data = {key: value for key, value in examples.PAGE.items() if key not in ("pageType", "status")}
    page = PageItem.model_validate(data)
    assert (page.page_type, page.status) == (None, None)


def test_an_unknown_enum_value_keeps_its_name() -> None:
    page = Page.model_validate(examples.PAGE | {"status": "sleeping", "pageType": "fax"})
    version = AudienceVersion.model_validate(examples.VERSION | {"status": "lost"})
    subscription = WebhookSubscription.model_validate(
        examples.SUBSCRIPTION | {"events": ["page.burnt"]}
    )
    assert (page.status, page.page_type) == ("sleeping", "fax")
    assert (version.status, subscription.events) == ("lost", ["page.burnt"])


def test_the_names_are_those_of_the_spec() -> None:
    assert " ".join(PageType) == "inbound outbound call_followup sales_deck custom"
    assert " ".join(PageStatus) == "archived draft published"
    assert " ".join(VersionStatus) == (
        "archived cancelled draft pending processing published queued"
    )
    assert " ".join(EventName) == (
        "page.version.created page.version.processed page.version.published"
        " form.submitted form.enriched form.enrichment_failed"
    )


@pytest.mark.parametrize("count", [-1, 9_007_199_254_740_992, 1.5, "3", True])
def test_a_count_outside_its_bounds_or_type_is_refused(count: Any) -> None:
    assert problem_of(Page, examples.PAGE | {"audiencesCount": count}) == ("audiencesCount",)


@pytest.mark.parametrize("count", [0, 9_007_199_254_740_991])
def test_a_count_at_its_bounds_is_read(count: int) -> None:
    assert Page.model_validate(examples.PAGE | {"audiencesCount": count}).audiences_count == count


@pytest.mark.parametrize("number", [-3, 0, 9_007_199_254_740_991])
def test_a_version_number_has_an_upper_bound_alone(number: int) -> None:
    data = examples.VERSION | {"versionNumber": number}
    assert AudienceVersion.model_validate(data).version_number == number
    above = examples.VERSION | {"versionNumber": 9_007_199_254_740_992}
    assert problem_of(AudienceVersion, above) == ("versionNumber",)


@pytest.mark.parametrize("name", ["name", "pageContext"])
def test_a_page_is_not_created_without_words(name: str) -> None:
    assert problem_of(PageRequest, examples.PAGE_REQUEST | {name: ""}) == (name,)


@pytest.mark.parametrize(("length", "is_taken"), [(0, False), (1, True), (128, True), (129, False)])
def test_an_operation_key_is_1_to_128_long(*, length: int, is_taken: bool) -> None:
    data = {"operationKey": "k" * length}
    if is_taken:
        assert PublishRequest.model_validate(data).to_wire() == data
    else:
        assert problem_of(PublishRequest, data) == ("operationKey",)


def test_a_date_is_text_of_at_least_one_character() -> None:
    assert problem_of(Page, examples.PAGE | {"createdAt": ""}) == ("createdAt",)
    assert Page.model_validate(examples.PAGE | {"createdAt": "soon"}).created_at == "soon"


def test_a_patch_sends_only_what_was_set() -> None:
    assert SubscriptionPatch().to_wire() == {}
    assert SubscriptionPatch(active=False).to_wire() == {"active": False}


def test_a_problem_has_its_path_in_wire_names() -> None:
    data = examples.AUDIENCE | {"latestVersion": examples.VERSION | {"versionNumber": "5"}}
    assert problem_of(Audience, data) == ("latestVersion", "versionNumber")


def test_an_audience_keeps_the_first_name_given() -> None:
    names = {"effectiveName": "", "customName": "Oslo", "computedName": "Halden"}
    assert Audience.model_validate(names).name == "Oslo"
    assert Audience.model_validate({}).name is None
