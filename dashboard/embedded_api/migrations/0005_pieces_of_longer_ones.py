"""Pieces that are a part of a longer one in nearly all texts that have them; sets of tenants.

They take the place of PostgreSQL's own index of trigrams.
"""

from typing import Any

from django.db import migrations, models


def write_anew(apps: Any, schema_editor: Any) -> None:
    """Let the next search write the sets as they are now; drop the index they are better than."""
    if schema_editor.connection.vendor == "postgresql":
        apps.get_model("embedded_api", "SearchState").objects.all().delete()
        schema_editor.execute("DROP INDEX IF EXISTS embedded_api_text_trigrams")


class Migration(migrations.Migration):
    dependencies = [("embedded_api", "0004_people_by_pieces")]
    operations = [
        migrations.AlterField(
            model_name="personpiece",
            name="piece",
            field=models.CharField(max_length=256, primary_key=True, serialize=False),
        ),
        migrations.AddField(
            model_name="personpiece",
            name="whole",
            field=models.CharField(db_default="", default="", max_length=24),
        ),
        migrations.RunPython(write_anew, migrations.RunPython.noop),
    ]
