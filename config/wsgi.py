"""The WSGI application for production servers."""

import os

from django.core.wsgi import get_wsgi_application
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
application = import_string("dashboard.observability.tracing.trace_requests")(application)
