"""The command line as a wheel, built from source so that it matches its server."""

import zipfile
from base64 import urlsafe_b64encode
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from dashboard.machine.cli import VERSION

SOURCE = Path(__file__).with_name("cli")
NAME = f"pressroom_cli-{VERSION}"
WHEEL_NAME = f"{NAME}-py3-none-any.whl"
ZIPPED_AT = (2026, 1, 1, 0, 0, 0)
"""Fixed, so that every process builds the same bytes."""
METADATA = f"""\
Metadata-Version: 2.1
Name: pressroom-cli
Version: {VERSION}
Summary: The command line of Pressroom.
Requires-Python: >=3.11
Requires-Dist: httpx>=0.28
Provides-Extra: keyring
Requires-Dist: keyring; extra == "keyring"
"""


@cache
def build(base_url: str) -> bytes:
    """Return the wheel, with the URL of its server. Source: packaging.python.org."""
    files = {f"pressroom_cli/{path.name}": path.read_text() for path in SOURCE.glob("*.py")}
    files["pressroom_cli/__init__.py"] += f"URL = {base_url!r}\n"
    info = f"{NAME}.dist-info"
    files[f"{info}/METADATA"] = METADATA
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    scripts = "[console_scripts]\npressroom = pressroom_cli.__main__:main\n"
    files[f"{info}/entry_points.txt"] = scripts
    record = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIPPED_AT), text)
    return buffer.getvalue()


def _digest(text: str) -> str:
    return urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")
