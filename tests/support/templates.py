"""The environment that renders our templates."""

import jinja2
from django.template import engines

from dashboard.web.ui.jinja import JinjaTemplates


def environment() -> jinja2.Environment:
    engine = engines["jinja"]
    assert isinstance(engine, JinjaTemplates)
    return engine.env
