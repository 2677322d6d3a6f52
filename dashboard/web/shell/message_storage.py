"""Messages in a cookie of our own name. Source: Django's documentation, MESSAGE_STORAGE."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class NamedCookieStorage(CookieStorage):
    cookie_name = settings.MESSAGES_COOKIE


class MessageStorage(FallbackStorage):
    """The cookie, or the session for what is too long for it."""

    storage_classes = (NamedCookieStorage, SessionStorage)
