"""The Jinja2 backend of our pages; Django's admin and allauth keep Django templates.

A partial for htmx is a block: `pages/list.html#rows` renders that block alone.
"""

import re
from collections.abc import Callable, Iterable, MutableMapping
from datetime import datetime
from typing import Any

import jinja2
from django.http import HttpRequest, QueryDict
from django.template import defaultfilters, defaulttags
from django.template.backends.jinja2 import Jinja2
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString
from django_htmx.jinja import htmx_script
from jinja2.ext import Extension

from dashboard import clock
from dashboard.ledger import states
from dashboard.texts import redact_unless
from dashboard.web.ui import formats, forms, highlighting, markdown, markup
from dashboard.web.ui.urls import cached_reverse


class JinjaTemplates(Jinja2):
    def get_template(self, template_name: str) -> "PageTemplate":  # type: ignore[override]
        """Return a template, or one block of it.

        Raises TemplateDoesNotExist, or LookupError if it has no such block.
        """
        name, _, block = template_name.partition("#")
        template = super().get_template(name).template
        if block and block not in template.blocks:
            raise LookupError(f"{name} has no block {block}.")
        return PageTemplate(template, block, self)


class PageTemplate:
    def __init__(self, template: jinja2.Template, block: str, backend: JinjaTemplates) -> None:
        self._template, self._block, self._backend = template, block, backend

    def render(
        self, context: dict[str, Any] | None = None, request: HttpRequest | None = None
    ) -> SafeString:
        """Render with the context processors' values. The view's values override them.

        In Django's own Jinja2 backend, context processors override the view.
        """
        values: dict[str, Any] = {"request": request}
        if request is not None:
            for processor in self._backend.template_context_processors:
                values |= processor(request)
        values |= context or {}
        if not self._block:
            return SafeString(self._template.render(values))
        block = self._template.blocks[self._block]
        return SafeString("".join(block(self._template.new_context(values))))


class Unindented(Extension):
    """Removes the indentation of templates, which is a twentieth of a compressed page.

    Line ends stay, so that words stay apart and tracebacks name the right line. Values, such as the
    content of a `<pre>`, stay unchanged.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _INDENTATION.sub("", source)


_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class _Environment(jinja2.Environment):
    """An environment whose globals are complete before the first template is loaded."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template as one dict.

        Jinja returns a ChainMap, which it compares name by name at every import of a macro.
        """
        return {**self.globals, **(d or {})}


def make_environment(
    functions: Iterable[Callable[..., Any]], filters: Iterable[Callable[..., Any]], **options: Any
) -> jinja2.Environment:
    ours = {"undefined": jinja2.StrictUndefined, "extensions": [Unindented]}
    environment = _Environment(**options | ours)  # Django sets autoescape
    environment.globals.update({function.__name__: function for function in (*GLOBALS, *functions)})
    environment.filters.update({function.__name__: function for function in (*FILTERS, *filters)})
    environment.filters["linebreaks"] = defaultfilters.linebreaks_filter
    return environment


@jinja2.pass_context
def querystring(
    context: jinja2.runtime.Context, query: QueryDict | None = None, **changes: Any
) -> str:
    """Return the query string of this request or of `query`, changed. None removes a field."""
    base = context["request"].GET if query is None else query
    # Django reads the context only if it is given no query.
    return str(defaulttags.querystring(None, base, **changes))  # type: ignore[arg-type]


def url(name: str, *args: str | int) -> str:
    """Return the URL with this name. Raises NoReverseMatch if there is none."""
    identifiers = [arg for arg in args if isinstance(arg, str)]
    if len(identifiers) == len(args):
        return cached_reverse(name, *identifiers)
    return reverse(name, args=args)


def current_time() -> datetime:
    return clock.now()


GLOBALS: list[Callable[..., Any]] = [
    current_time,
    htmx_script,
    querystring,
    states.latest_state,
    states.operation_state,
    static,
    url,
    formats.current_zone_name,
    forms.form_key_input,
    markup.date_text,
    markup.optional_text,
    markup.icon,
    markup.json_code,
    markup.markdown,
    markup.moment,
    markup.running,
    markup.safe_link,
    markup.short_id,
    markup.source_code,
    markup.status_badge,
    markup.status_icon,
    markup.submits,
    markup.swatch,
    markup.unreadable_mark,
    markup.value_or_none,
]
FILTERS: list[Callable[..., Any]] = [
    defaultfilters.capfirst,
    defaultfilters.filesizeformat,
    defaultfilters.linebreaksbr,
    defaultfilters.pluralize,
    defaultfilters.slugify,
    defaultfilters.truncatechars,
    defaultfilters.truncatewords,
    defaultfilters.urlencode,
    defaultfilters.yesno,
    markdown.is_linkable,
    markdown.visible_text,
    markup.day,
    markup.duration,
    markup.milliseconds,
    markup.moment_text,
    markup.naming_invisible,
    markup.number,
    markup.page_type,
    markup.status_tone,
    markup.untranslated,
    states.state_label,
    highlighting.pretty_json,
    redact_unless,
]
