"""The list of audiences: its rows from the service, and on a page."""

from typing import Any

from django.test import Client

from tests.support import wire
from tests.support.html import text

LIST = "/audiences/"


def named(number: int, name: str = "", **differs: Any) -> dict[str, Any]:
    ids = {"audienceId": f"aud_{number}", "effectiveName": name or f"Company {number}"}
    latest = wire.version(audienceId=f"aud_{number}", versionId=f"ver_{number}_2")
    live = wire.live_version(audienceId=f"aud_{number}", versionId=f"ver_{number}_1")
    return wire.audience(**ids, latestVersion=latest, publishedVersion=live) | differs


def live(number: int, **differs: Any) -> dict[str, Any]:
    version = wire.live_version(versionId=f"ver_{number}_1", **differs)
    return named(number, latestVersion=version, publishedVersion=version)


def canceled(number: int) -> dict[str, Any]:
    return named(number, latestVersion=wire.version(status="cancelled"))


def html_of(client: Client, address: str = LIST, target: str = "", **headers: str) -> str:
    if target:
        headers |= {"HX-Request": "true", "HX-Target": target}
    response = client.get(address, headers=headers)
    assert response.status_code == 200, response.text
    return response.text


def names_in(html: str) -> list[str]:
    """Return the names of the rows, in order."""
    heads = [part.split("</a>")[0] for part in html.split('<th scope="row"')[1:]]
    return [text(f"<th{head}") for head in heads]
