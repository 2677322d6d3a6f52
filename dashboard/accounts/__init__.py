"""Sign-in, second factor, single sign-on, sessions, permissions and the Django admin."""
