"""Settings pages for programs: user tokens, service tokens, and how to connect a program."""
