"""Read the service: one client per process, circuit breaker, live or last known."""
