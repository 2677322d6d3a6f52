"""The lists of Django's admin, and of django-unfold, which stands on it."""

from django.conf import settings
from django.contrib import admin

from tests.benchmarks.peers.models import A_LIST, COLUMNS, FILTERED, SEARCHED

if settings.PEER == "unfold":
    from unfold.admin import ModelAdmin
else:
    from django.contrib.admin import ModelAdmin

for model, columns in COLUMNS.items():
    options = {
        "list_display": columns,
        "search_fields": SEARCHED[model],
        "list_filter": FILTERED[model],
        "list_per_page": A_LIST,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (ModelAdmin,), options))
