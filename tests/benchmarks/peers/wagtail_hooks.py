"""The same lists as Wagtail's snippets."""

from wagtail.snippets.models import register_snippet
from wagtail.snippets.views.snippets import SnippetViewSet

from tests.benchmarks.peers.models import A_LIST, COLUMNS, FILTERED, SEARCHED

for model, columns in COLUMNS.items():
    options = {
        "model": model,
        "list_display": list(columns),
        "search_fields": list(SEARCHED[model]),
        "list_filter": list(FILTERED[model]),
        "list_per_page": A_LIST,
        # Its own index would have to be filled first; the list asks it nothing.
        "search_backend_name": None,
    }
    register_snippet(type(f"{model.__name__}ViewSet", (SnippetViewSet,), options))
