"""Run the dashboard: gunicorn, static files, health probes and the Redis cache."""
