"""Sets of the texts that have a piece of a word, for PostgreSQL."""

from typing import Any

from django.db import migrations, models


def keep_as_they_are(apps: Any, schema_editor: Any) -> None:
    """Spare PostgreSQL from packing what is packed already."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "ALTER TABLE embedded_api_personpiece ALTER COLUMN places SET STORAGE EXTERNAL"
        )


class Migration(migrations.Migration):
    dependencies = [("embedded_api", "0003_people_noted_and_indexed")]
    operations = [
        migrations.CreateModel(
            name="PersonPiece",
            fields=[
                ("piece", models.CharField(max_length=24, primary_key=True, serialize=False)),
                ("texts", models.IntegerField()),
                ("places", models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name="persontext",
            name="place",
            field=models.IntegerField(null=True, unique=True),
        ),
        migrations.RunPython(keep_as_they_are, migrations.RunPython.noop),
    ]
