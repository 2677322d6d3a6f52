"""The address of the site: which patterns are allowed, and the links they make."""

import pytest
from django.core.exceptions import ValidationError

from dashboard.contract.audiences import Audience
from dashboard.previews.models import site_link, validate_pattern
from tests.support import wire

PATTERN = "https://example.com/{route_key}?page={page_id}"


@pytest.mark.parametrize(
    "pattern",
    [
        "http://example.com/{route_key}",
        "javascript:alert('{route_key}')",
        "https://{route_key}.example.com/",
        "https://example.com{route_key}",
        "https://example.com:{page_id}/",
        "https://{page_id}@example.com/",
        "https://user@example.com/{route_key}",
        "https://example.com/#{route_key}",
        "https://example.com/{secret}",
        "https://example.com/{route_key",
        "https://example.com/a b/{route_key}",
        "https://example.com\\@evil.example/{route_key}",
        "https://example.com/",
    ],
)
def test_a_pattern_fixes_the_host(pattern: str) -> None:
    with pytest.raises(ValidationError):
        validate_pattern(pattern)


def test_each_value_is_encoded_once() -> None:
    validate_pattern(PATTERN)
    audience = Audience.model_validate(wire.audience(prospectRouteKey="a/b?c=1&d=%2e ü"))
    link = site_link(PATTERN, "p&x", audience)
    assert link.url == "https://example.com/a%2Fb%3Fc%3D1%26d%3D%252e%20%C3%BC?page=p%26x"


@pytest.mark.parametrize("value", [None, "", ".", ".."])
def test_a_value_that_leads_elsewhere_gives_no_link(value: str | None) -> None:
    audience = Audience.model_validate(wire.audience(prospectRouteKey=value))
    link = site_link(PATTERN, "page_1", audience)
    assert not link.url
    assert "prospectRouteKey" in link.problem
