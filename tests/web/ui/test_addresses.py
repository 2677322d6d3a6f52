"""The cached `reverse` returns the same URLs as Django's."""

import pytest
from django.test.utils import override_script_prefix
from django.urls import NoReverseMatch, reverse
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.ui.urls import cached_reverse

identifiers = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)


@given(identifiers, identifiers)
def test_a_url_is_the_one_that_reverse_returns(page_id: str, audience_id: str) -> None:
    args = [page_id, audience_id]
    assert cached_reverse("audience-detail", *args) == reverse("audience-detail", args=args)


@pytest.mark.parametrize("identifier", [".", "..", "new", "a/b", "100%", "{}", "ü", "%2F"])
@pytest.mark.parametrize("prefix", ["/", "/press room/", "/{0}/"])
def test_odd_identifiers_and_prefixes_are_encoded_alike(prefix: str, identifier: str) -> None:
    with override_script_prefix(prefix):
        expected = reverse("page-detail", args=[identifier])
        assert cached_reverse("page-detail", identifier) == expected


def test_an_unknown_url_name_is_an_error() -> None:
    with pytest.raises(NoReverseMatch):
        cached_reverse("nowhere", "page_1")
