"""What the HTML pages share: one file that holds everything, a common style, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files


def resource(package: str, name: str) -> str:
    """A style or script that lies in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def document(title: str, style: str, script: str, body: str) -> str:
    """A whole page. Its content security policy admits its own style and script and data: images, and no network at all."""
    style = resource(__name__, "base.css") + style
    policy = f"default-src 'none'; img-src data:; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _fingerprint(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
