"""People in the Django admin."""

from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.db.models import QuerySet
from django.http import HttpRequest

from dashboard.embedded_api.admin.base import ServiceAdmin
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.models import Person, fold_for_search
from dashboard.embedded_api.requests import MAX_WORDS, NewPerson

_FIELDS = ("name", "email", "domain", "slug", "phone_number", "linkedin_profile_url")


class PersonForm(ServiceForm):
    """A person, by the rules of an import."""

    rules = NewPerson

    class Meta:
        model = Person
        fields = ("tenant", *_FIELDS)
        widgets = dict.fromkeys(_FIELDS, AdminTextInputWidget)


class PersonAdmin(ServiceAdmin):
    """People, of whom there may be a million: listed and searched by index."""

    form = PersonForm
    list_display = ("shown_name", "email", "domain", "phone_number", "updated")
    list_display_links = ("shown_name",)
    list_filter = ("tenant", ("email", admin.EmptyFieldListFilter))
    search_fields = ("search_text",)
    search_help_text = "Every word in the name, email, domain, slug or phone, without accents."
    # The order of an index; by the name alone, all people would be sorted for each page.
    ordering = ("tenant_id", "name", "person_id")
    show_full_result_count = False
    autocomplete_fields = ("tenant",)
    fixed_fields = ("tenant",)
    shown_fields = ("person_id", "created", "updated")

    @admin.display(description="Name", ordering="name")
    def shown_name(self, row: Person) -> str:
        """Return the name, or else the ID, so that there is something to click."""
        return str(row)

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Person]", search_term: str
    ) -> "tuple[QuerySet[Person], bool]":
        """Search as the API does: each word, without case and accents."""
        for word in fold_for_search(search_term).split()[:MAX_WORDS]:
            queryset = queryset.filter(search_text__contains=word)
        return queryset, False
