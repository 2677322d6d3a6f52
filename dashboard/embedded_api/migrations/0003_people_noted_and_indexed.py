"""Triggers that note each change of a person, one order on both databases, SQLite's index."""

import logging
from typing import Any

from django.db import Error, migrations, transaction

log = logging.getLogger(__name__)

SQLITE_TRIGGERS = [
    """
    CREATE TRIGGER embedded_api_person_added AFTER INSERT ON embedded_api_person BEGIN
        INSERT INTO embedded_api_personchange(person_id) VALUES (NEW.id);
    END
    """,
    """
    CREATE TRIGGER embedded_api_person_changed
    AFTER UPDATE OF id, tenant_id, name, email, domain, slug, phone_number
    ON embedded_api_person BEGIN
        INSERT INTO embedded_api_personchange(person_id) VALUES (OLD.id), (NEW.id);
    END
    """,
    """
    CREATE TRIGGER embedded_api_person_removed AFTER DELETE ON embedded_api_person BEGIN
        INSERT INTO embedded_api_personchange(person_id) VALUES (OLD.id);
    END
    """,
]
# Letters and digits are part of a gram anyway, and so is all beyond ASCII.
_PARTS_OF_GRAMS = "".join(
    char for char in map(chr, range(1, 128)) if not char.isspace() and not char.isalnum()
).replace("'", "''''")
SQLITE_INDEX = f"""
    CREATE VIRTUAL TABLE embedded_api_persongrams USING fts5(
        grams, content='', columnsize=0, prefix='1 2 3',
        tokenize='ascii tokenchars ''{_PARTS_OF_GRAMS}'''
    )
"""

POSTGRESQL_TRIGGERS = [
    """
    CREATE FUNCTION embedded_api_note_person() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            DELETE FROM embedded_api_searchstate;
            RETURN NULL;
        END IF;
        IF TG_OP <> 'INSERT' THEN
            INSERT INTO embedded_api_personchange(person_id) VALUES (OLD.id);
        END IF;
        IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.id <> OLD.id THEN
            INSERT INTO embedded_api_personchange(person_id) VALUES (NEW.id);
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER embedded_api_person_added_or_removed
    AFTER INSERT OR DELETE ON embedded_api_person
    FOR EACH ROW EXECUTE FUNCTION embedded_api_note_person()
    """,
    """
    CREATE TRIGGER embedded_api_person_changed
    AFTER UPDATE OF id, tenant_id, name, email, domain, slug, phone_number
    ON embedded_api_person
    FOR EACH ROW EXECUTE FUNCTION embedded_api_note_person()
    """,
    """
    CREATE TRIGGER embedded_api_people_forgotten AFTER TRUNCATE ON embedded_api_person
    FOR EACH STATEMENT EXECUTE FUNCTION embedded_api_note_person()
    """,
]
# SQLite compares character by character; PostgreSQL would ask the language it was set up with.
POSTGRESQL_ORDER = [
    'ALTER TABLE embedded_api_person ALTER COLUMN name TYPE text COLLATE "C",'
    ' ALTER COLUMN id TYPE varchar(255) COLLATE "C"',
    'ALTER TABLE embedded_api_persontext ALTER COLUMN name TYPE text COLLATE "C",'
    ' ALTER COLUMN person_id TYPE varchar(255) COLLATE "C"',
]


def note_and_index(apps: Any, schema_editor: Any) -> None:
    """Do what the database can. Without an index a search is slow, and as right."""
    if schema_editor.connection.vendor == "postgresql":
        _run(schema_editor, *POSTGRESQL_ORDER, *POSTGRESQL_TRIGGERS)
    else:
        _run(schema_editor, *SQLITE_TRIGGERS)
        try:
            with transaction.atomic(schema_editor.connection.alias):
                _run(schema_editor, SQLITE_INDEX)
        except Error:
            log.warning("This SQLite was built without FTS5, so searching many people is slow.")


def _run(schema_editor: Any, *statements: str) -> None:
    with schema_editor.connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def forget(apps: Any, schema_editor: Any) -> None:
    """Take it all back; the order of letters may stay."""
    if schema_editor.connection.vendor == "postgresql":
        _run(schema_editor, "DROP FUNCTION embedded_api_note_person CASCADE")
        return
    for trigger in ("added", "changed", "removed"):
        _run(schema_editor, f"DROP TRIGGER embedded_api_person_{trigger}")
    _run(schema_editor, "DROP TABLE IF EXISTS embedded_api_persongrams")


class Migration(migrations.Migration):
    dependencies = [("embedded_api", "0002_people_texts")]
    operations = [migrations.RunPython(note_and_index, forget)]
