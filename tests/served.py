"""The settings of the servers that the suite starts: production's, but for how passwords are kept.

Half a second of processor time for each of some two hundred log-ins guards people, not tests.
"""

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
