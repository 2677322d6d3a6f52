"""Functions of the page detail and of the audience table."""

from typing import Any

from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.web.audiences.table import AUDIENCES_OF_PAGE, AudienceRow, audience_table
from dashboard.web.lists.columns import heading
from dashboard.web.lists.state import ListState
from dashboard.web.pages.detail import PageBody, curl_command
from tests.support import wire


def page_body(**differs: Any) -> PageBody:
    return PageBody(PageItem.model_validate(wire.page(**differs)), curl="")


@given(st.text(alphabet="ab \n\r"))
def test_paragraphs_lose_nothing_but_blanks(text: str) -> None:
    paragraphs = page_body(pageContext=text).paragraphs
    assert "".join("".join(paragraphs).split()) == "".join(text.split())
    assert all(part.strip() for part in paragraphs)


@given(st.lists(st.none() | st.floats(allow_nan=False)))
def test_actions_come_by_their_index_and_those_without_last(indices: list[float | None]) -> None:
    actions = [{"actionIndex": index} for index in indices]
    matching = [action.action_index for action in page_body(actions=actions).actions]
    given_indices = [index for index in indices if index is not None]
    assert matching[: len(given_indices)] == sorted(given_indices)
    assert matching[len(given_indices) :] == [None] * indices.count(None)


def test_a_curl_command_quotes_any_id() -> None:
    line = curl_command("https://service.example/", "pages", "a'; rm -rf /")
    assert line.endswith(" https://service.example/v0/pages/a%27%3B%20rm%20-rf%20%2F")


def test_a_heading_reverses_the_order_and_back() -> None:
    first = heading("", "-updated", str)
    again = heading(first.url, "-updated", str)
    assert (first.direction, first.url) == ("none", "-updated")
    assert (again.direction, again.url) == ("descending", "updated")
    assert heading("updated", "-updated", str).url == "-updated"


NAMES = st.none() | st.sampled_from(["Åse", "brightwater", "Moor", ""])
AUDIENCES = st.lists(
    st.builds(
        lambda name, number, live: wire.audience(
            effectiveName=name,
            customName=None,
            computedName=None,
            latestVersion=wire.version(versionNumber=number),
            publishedVersion=wire.live_version() if live else None,
        ),
        NAMES,
        st.integers(0, 9),
        st.booleans(),
    ),
    max_size=8,
)


@given(AUDIENCES, st.sampled_from(["", "name", "-name", "latest", "-latest", "published"]))
def test_sorting_audiences_loses_none(audiences: list[dict[str, object]], sort: str) -> None:
    response = ListEnvelope[Audience].model_validate(wire.envelope(*audiences))
    listed = [
        AudienceRow(
            *("page_1", item.audience_id or "", item),
            last_publish=None,
            live_since=None,
            is_live_since_seen=None,
            seen_in_flight_at=None,
        )
        for item in response.items
    ]
    state = ListState.parse(AUDIENCES_OF_PAGE, QueryDict(f"sort={sort}"))
    rows = audience_table(response, listed, state).rows
    versions = sorted((row.name, row.latest and row.latest.version_number) for row in rows)
    sent = [(item.name or item.audience_id, item.latest_version) for item in response.items]
    assert versions == sorted((name, latest and latest.version_number) for name, latest in sent)
    if sort == "-latest":
        numbers = [row.latest.version_number for row in rows if row.latest]
        assert numbers == sorted(numbers, reverse=True)
