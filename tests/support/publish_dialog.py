"""The publish dialog of version 2, opened and sent by a test client."""

from django.test import Client

from tests.support.html import elements

ADDRESS = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"

EARLIER = ADDRESS.replace("ver_2", "ver_1")

DIALOG = {"HX-Request": "true", "HX-Target": "dialogs"}

PROGRESS = {"HX-Request": "true", "HX-Target": "progress"}


def shown(client: Client, address: str = ADDRESS, **headers: str) -> str:
    return client.get(address, headers=headers or None).content.decode()


def form_in(html: str) -> dict[str, str]:
    """Return the fields of the form that publishes, the number left empty."""
    inputs = [e.attributes for e in elements(html, "input")]
    names = ("operation_key", "shown", "number")
    return {e["name"]: e["value"] for e in inputs if e.get("name") in names}


def publish(client: Client, address: str = ADDRESS, **typed: str) -> str:
    """Open the form, send it and return the resulting page."""
    form = form_in(shown(client, address)) | typed
    return client.post(address, form, follow=True).content.decode()
