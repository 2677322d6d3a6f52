"""The rows that Pressroom lists, in the tables of a copy of its database."""

from django.db import models


class Page(models.Model):
    """A page."""

    id = models.CharField(primary_key=True, max_length=255)
    name = models.TextField()
    title = models.TextField()
    page_type = models.CharField(max_length=40)
    created_at = models.CharField(max_length=40)
    updated_at = models.CharField(max_length=40)
    published_at = models.CharField(max_length=40, null=True)
    archived_at = models.CharField(max_length=40, null=True)

    class Meta:
        managed = False
        db_table = "embedded_api_page"

    def __str__(self) -> str:
        return self.name


class Person(models.Model):
    """A person."""

    person_id = models.CharField(primary_key=True, max_length=255)
    name = models.TextField()
    email = models.TextField(null=True)
    domain = models.TextField(null=True)
    slug = models.TextField(null=True)
    phone_number = models.TextField(null=True)
    created_at = models.CharField(max_length=40)
    updated_at = models.CharField(max_length=40)

    class Meta:
        managed = False
        db_table = "embedded_api_person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.name


class Audience(models.Model):
    """An audience."""

    id = models.CharField(primary_key=True, max_length=255)
    page = models.ForeignKey(Page, models.CASCADE)
    computed_name = models.TextField(null=True)
    custom_name = models.TextField(null=True)
    prospect_route_key = models.TextField(null=True)
    is_new_page_agent = models.BooleanField()
    created_at = models.CharField(max_length=40)
    archived_at = models.CharField(max_length=40, null=True)

    class Meta:
        managed = False
        db_table = "embedded_api_audience"

    def __str__(self) -> str:
        return self.custom_name or self.computed_name or self.id


COLUMNS = {
    Page: ("name", "page_type", "title", "published_at", "updated_at"),
    Person: ("name", "email", "domain", "phone_number", "updated_at"),
    Audience: ("computed_name", "custom_name", "prospect_route_key", "archived_at", "created_at"),
}
SEARCHED = {
    Page: ("name", "title"),
    Person: ("name", "email", "domain", "slug", "phone_number"),
    Audience: ("computed_name", "custom_name"),
}
FILTERED = {Page: ("page_type",), Person: (), Audience: ("is_new_page_agent",)}
A_LIST = 50
