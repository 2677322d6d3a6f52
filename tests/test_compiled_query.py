"""A compiled query returns the rows of its queryset for any arguments."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import Max, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.compiled_query import CompiledQuery
from dashboard.ledger.models import PageRecord

pytestmark = pytest.mark.django_db


def named(status: Any, ids: Any, *, size: int = 10) -> "QuerySet[PageRecord, Any]":
    pages = PageRecord.objects.filter(status=status, page_id__in=ids).order_by("page_id")
    return pages.values_list("page_id", "last_seen_at")[:size]


def make_pages(*ids: str, status: str = "draft") -> None:
    now = timezone.now()
    for page_id in ids:
        PageRecord.objects.create(
            page_id=page_id,
            status=status,
            body="{}",
            digest="",
            audiences_count=0,
            first_seen_at=now,
            last_seen_at=now,
            changed_at=now,
        )


@pytest.mark.parametrize(
    ("status", "ids"),
    [
        ("draft", ["a", "b"]),
        ("draft", ["c"]),
        ("draft", ["b", "b", "nothing"]),
        ("draft", []),
        ("placeholder 0", ["a"]),
        ("%s", ["placeholder 1", "a"]),
        ("draft", ["%", "'", '"', "é", "%s"]),
    ],
)
def test_it_finds_what_the_queryset_finds(status: str, ids: list[str]) -> None:
    make_pages("a", "b", "c", "%", "'", '"', "é", "%s")
    make_pages("placeholder 1", status="%s")
    query = CompiledQuery(tuple, named)
    for size in (10, 1):
        rows, expected = query.rows(status, ids, size=size), [*named(status, ids, size=size)]
        assert rows == expected


def test_a_query_runs_once_and_sees_new_rows() -> None:
    query = CompiledQuery(tuple, named)
    make_pages("a")
    assert [page_id for page_id, *_ in query.rows("draft", ["a", "b"])] == ["a"]
    make_pages("b")
    with CaptureQueriesContext(connection) as queries:
        assert [page_id for page_id, *_ in query.rows("draft", ["a", "b"])] == ["a", "b"]
    assert len(queries) == 1


def test_a_query_that_counts_has_its_columns_too() -> None:
    make_pages("a", "b")
    latest = CompiledQuery(
        tuple,
        lambda status: (
            PageRecord.objects.filter(status=status)
            .values_list("status")
            .annotate(seen=Max("last_seen_at"))
        ),
    )
    (row,) = latest.rows("draft")
    assert row == ("draft", PageRecord.objects.get(page_id="b").last_seen_at)


def test_numbers_are_arguments_as_texts_are() -> None:
    make_pages("a", "b", "c")
    PageRecord.objects.filter(page_id="b").update(audiences_count=7)
    PageRecord.objects.filter(page_id="c").update(audiences_count=-1)
    of_count = CompiledQuery(
        tuple,
        lambda count, ids: PageRecord.objects.filter(
            audiences_count=count, page_id__in=ids, id__gt=-1
        ).values_list("page_id"),
    )
    for count, expected in ((7, ["b"]), (-1, ["c"]), (0, ["a"]), (1, [])):
        assert [page_id for page_id, *_ in of_count.rows(count, ["a", "b", "c"])] == expected


@pytest.mark.parametrize(
    "words",
    [[], ["50"], ["50%"], ["_"], ["\\"], ["PLACEHOLDER 0"], ["placeholder 1", "%s"], ["50", "50"]],
)
def test_a_text_is_found_inside_others_unchanged(words: list[str]) -> None:
    make_pages("50", "50%", "5_0", "back\\slash", "placeholder 0", "%placeholder 1% and %s")

    def holding(words: Any) -> "QuerySet[PageRecord, Any]":
        pages = PageRecord.objects.order_by("page_id")
        for word in words:
            pages = pages.filter(page_id__icontains=word)
        return pages.values_list("page_id")

    query = CompiledQuery(tuple, holding)
    assert query.rows(words) == [*holding(words)]
    assert [page_id for page_id, *_ in query.rows(words)] == sorted(
        page_id
        for page_id in (
            "50",
            "50%",
            "5_0",
            "back\\slash",
            "placeholder 0",
            "%placeholder 1% and %s",
        )
        if all(word.lower() in page_id for word in words)
    )
