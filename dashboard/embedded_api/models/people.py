"""People, and what they are found by."""

from django.db import models

from dashboard.embedded_api.marks import MARK_LENGTH, mark_now
from dashboard.embedded_api.models.fields import ID_LENGTH, id_column
from dashboard.embedded_api.models.tenants import Tenant


class Person(models.Model):
    """A person. An empty name is an absent one; the list is ordered by name then id.

    Triggers note each change in PersonChange, whoever makes it, for the search to follow.
    """

    id = id_column("prospect")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="people")
    name = models.TextField(default="")
    email = models.TextField(null=True)
    domain = models.TextField(null=True)
    slug = models.TextField(null=True)
    phone_number = models.TextField(null=True)
    linkedin_profile_url = models.TextField(null=True)
    created_at = models.CharField(max_length=MARK_LENGTH, default=mark_now)
    updated_at = models.CharField(max_length=MARK_LENGTH, default=mark_now)

    class Meta:
        verbose_name_plural = "people"
        indexes = [models.Index(fields=["tenant", "name", "id"], name="person_by_name")]

    def __str__(self) -> str:
        return self.name or self.id


class PersonText(models.Model):
    """What a person is found by, folded. Kept by `search.upkeep`, and by nothing else.

    It names its person without a foreign key: it may lag behind until the next search.
    """

    label = models.BigAutoField(primary_key=True)
    """Stands for the place in the list: sorting by it is sorting by tenant, name and id."""
    place = models.IntegerField(null=True, unique=True)
    """Counts the texts in the order of their labels; None for one that came later than all that."""
    person_id = models.CharField(max_length=ID_LENGTH, unique=True)
    tenant_id = models.CharField(max_length=ID_LENGTH)
    name = models.TextField()
    text = models.TextField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "name", "person_id"], name="text_by_name"),
            models.Index(fields=["tenant_id", "label"], name="text_by_label"),
        ]

    def __str__(self) -> str:
        return self.text


class PersonPiece(models.Model):
    """Which texts have a piece of a word. Kept by `search.by_pieces`, and by nothing else."""

    piece = models.CharField(max_length=ID_LENGTH + 1, primary_key=True)
    texts = models.IntegerField()
    """How many have it."""
    whole = models.CharField(max_length=24, default="", db_default="")
    """A longer piece that nearly all of them have; its places are theirs."""
    places = models.BinaryField()
    """Their places, or those of the texts without the whole: a Roaring bitmap, portable."""

    def __str__(self) -> str:
        return self.piece


class PersonChange(models.Model):
    """A person whose row was written or removed since the texts were kept; written by triggers."""

    person_id = models.CharField(max_length=ID_LENGTH)

    def __str__(self) -> str:
        return self.person_id


class SearchState(models.Model):
    """The one row that says which state of the people the texts follow."""

    mark = models.CharField(max_length=32)
    """A mark that no other state has had, nor one that was rolled back."""

    def __str__(self) -> str:
        return self.mark
