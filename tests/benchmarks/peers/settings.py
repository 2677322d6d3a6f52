"""Settings of the peer that PEER names, as its documentation recommends for production."""

import os
from pathlib import Path

PEER = os.environ["PEER"]
FOLDER = Path(os.environ["PEER_FOLDER"])

SECRET_KEY = "only-for-benchmarks-" + "x" * 50
ALLOWED_HOSTS = ["127.0.0.1"]
USE_I18N = False
ROOT_URLCONF = "tests.benchmarks.peers.urls"
WAGTAIL_SITE_NAME = "Peer"
WAGTAILADMIN_BASE_URL = "http://127.0.0.1"

WAGTAIL_APPS = [
    *("wagtail.users", "wagtail.snippets", "wagtail.documents", "wagtail.images"),
    *("wagtail.admin", "wagtail.search", "wagtail", "modelcluster", "taggit"),
]
DJANGO_APPS = ("admin", "auth", "contenttypes", "messages", "sessions", "staticfiles")
INSTALLED_APPS = [
    "tests.benchmarks.peers",
    *(WAGTAIL_APPS if PEER == "wagtail" else []),
    *(f"django.contrib.{name}" for name in DJANGO_APPS),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
CONTEXT = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": CONTEXT},
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "peer.sqlite3",
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
}
STATIC_URL = "static/"
STATIC_ROOT = FOLDER / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
