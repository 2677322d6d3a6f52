# Two stages: what builds stays behind; what runs is Python, the libraries and the dashboard.
FROM python:3.11-slim AS build
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir uv==0.13.9
WORKDIR /app
COPY pyproject.toml ./
# What else is to be there: EXTRAS="--extra telemetry" for traces.
ARG EXTRAS=""
RUN uv sync --no-dev $EXTRAS --no-cache --compile-bytecode
# By name: beside them may lie what holds secrets, such as the file of variables or a backup.
COPY manage.py ./
COPY config config
COPY dashboard dashboard
COPY templates templates
COPY static static
# Hashed and compressed here, so that a start compresses nothing and needs to write nothing.
RUN SECRET_KEY=only-to-collect-static-files-0123456789-0123456789-0123456789 ALLOWED_HOSTS=localhost \
    DATABASE_URL=sqlite://:memory: \
    .venv/bin/python manage.py collectstatic --no-input --verbosity 0 \
 && chmod 755 var \
 && .venv/bin/python -m compileall -q config dashboard

FROM python:3.11-slim
RUN useradd --uid 10001 --no-create-home pressroom \
 && install --directory --owner pressroom --mode 0700 /data
WORKDIR /app
COPY --from=build /app /app
USER pressroom
ENV PATH=/app/.venv/bin:$PATH \
    DATABASE_URL=sqlite:////data/pressroom.sqlite3 \
    LOG_FORMAT=json
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health/live', timeout=2)"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0", "--port", "8000"]
