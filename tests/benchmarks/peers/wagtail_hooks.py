"""The same lists as Wagtail's snippets."""

from wagtail.snippets.models import register_snippet
from wagtail.snippets.views.snippets import SnippetViewSet

from tests.benchmarks.peers.models import A_LIST, LISTS

# Its own index would have to be filled first, and the list doesn't use it.
NO_INDEX = {"search_backend_name": None}

for model, options in LISTS.items():
    attributes = {"model": model, **options, **A_LIST, **NO_INDEX}
    register_snippet(type(f"{model.__name__}ViewSet", (SnippetViewSet,), attributes))
