"""Capitals that were written in parts, of letters that lie in parts without case (ΐ, ΰ)."""

from typing import Any
from unicodedata import normalize

from django.db import migrations


def note_whom_it_concerns(apps: Any, schema_editor: Any) -> None:
    """Let the next search keep the texts of these few people as they are compared from now on."""
    kept = apps.get_model("embedded_api", "PersonText").objects
    change = apps.get_model("embedded_api", "PersonChange")
    texts = kept.values_list("person_id", "text").iterator(chunk_size=5_000)
    noted = [
        change(person_id=person_id)
        for person_id, text in texts
        if not text.isascii() and normalize("NFKC", text).casefold() != text
    ]
    change.objects.bulk_create(noted, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("embedded_api", "0006_pages_counted_from_a_short_index")]
    operations = [migrations.RunPython(note_whom_it_concerns, migrations.RunPython.noop)]
