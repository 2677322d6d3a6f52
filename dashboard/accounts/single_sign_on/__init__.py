"""Sign-in through the organization's identity provider (OpenID Connect)."""
