"""An address that is filled in is the one that Django would look up."""

import pytest
from django.test.utils import override_script_prefix
from django.urls import NoReverseMatch, reverse
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.ui.urls import cached_reverse

identifiers = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)


@given(identifiers, identifiers)
def test_an_address_is_the_one_that_is_looked_up(page_id: str, audience_id: str) -> None:
    args = [page_id, audience_id]
    assert cached_reverse("audience-detail", *args) == reverse("audience-detail", args=args)


@pytest.mark.parametrize("identifier", [".", "..", "new", "a/b", "100%", "{}", "ü", "%2F"])
@pytest.mark.parametrize("prefix", ["/", "/press room/", "/{0}/"])
def test_strange_identifiers_and_prefixes_are_written_alike(prefix: str, identifier: str) -> None:
    with override_script_prefix(prefix):
        expected = reverse("page-detail", args=[identifier])
        assert cached_reverse("page-detail", identifier) == expected


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(NoReverseMatch):
        cached_reverse("nowhere", "page_1")
