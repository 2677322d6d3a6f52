"""Tags of the conversation. Load with `{% load conversations %}`."""

from django import template

from dashboard.web import conversation_search

register = template.Library()

register.simple_tag(conversation_search.result_around)
