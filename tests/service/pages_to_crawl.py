"""Pages and audiences as the service lists them for a crawl."""

from tests.support import wire


def page_json(number: int) -> dict[str, object]:
    return wire.page(pageId=f"page_{number}", name=f"Page {number}")


def audience_json(number: int) -> dict[str, object]:
    return wire.audience(audienceId=f"aud_{number}", pageId=f"page_{number}")
