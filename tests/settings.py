"""The settings of the suite: production's, with a fixed environment."""

import os
import sys

# Write bytecode regardless of the environment: each worker imports the same thousand modules and
# rewrites the asserts of each test.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ |= {
    "SECRET_KEY": "only-for-tests-" + "x" * 50,
    "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "SECURE_COOKIES": "false",
    "ENVIRONMENT_NAME": "Tests",
}
UNSET = ("SERVICE_URL", "SERVICE_API_KEY", "CACHE_URL", "DEBUG")
COLLECTOR = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
for name in (*UNSET, *COLLECTOR, "METRICS_TOKEN", "REQUEST_ID_HEADER", "LOG_FORMAT"):
    os.environ.pop(name, None)
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "sqlite:///:memory:")

from config.settings import *  # noqa: E402, F403

# Production's hash takes a quarter of a second.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Static files are served from their sources, without collectstatic.
STATIC_ROOT = None  # type: ignore[assignment]
CACHES = {"default": {"BACKEND": "tests.support.lasting_cache.LastingCache"}}
# Fails a test if a page contains a key.
MIDDLEWARE = ["tests.support.secrets_watch.secret_check_middleware", *MIDDLEWARE]  # noqa: F405
