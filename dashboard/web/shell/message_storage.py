"""Stores messages under our own cookie name. Source: Django's documentation, MESSAGE_STORAGE."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class NamedCookieStorage(CookieStorage):
    cookie_name = settings.MESSAGES_COOKIE


class MessageStorage(FallbackStorage):
    """Stores messages in the cookie, or in the session if they are too long for it."""

    storage_classes = (NamedCookieStorage, SessionStorage)
