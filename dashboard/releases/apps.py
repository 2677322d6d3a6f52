"""Releases as a Django app."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """Tables of releases, of their items, and of the workers that run them."""

    name = "dashboard.releases"
    label = "releases"
