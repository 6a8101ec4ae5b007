"""
Brings leadline.ndjson into OpenSearch Dashboards or Kibana by their import API.

The API answers 200 even when it took nothing, so its answer is read to the end.
"""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kibana.build import BUILT
from leadline.errors import LeadlineError

BOUNDARY = "leadline-7d1f0c1f5a"
TIMEOUT = 120


class ImportRefusedError(LeadlineError):
    """
    The product did not take the file, or not all of it.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where to, and as whom.
    """

    address: str  # http://host:5601, with the base path where one is set
    username: str = ""
    password: str = ""
    ca_file: Path | None = None
    verify: bool = True
    tenant: str = ""  # OpenSearch Dashboards: global, private or a tenant's name
    space: str = ""  # Kibana: a space's id; empty: the default one


def upload(target: Target, text: str) -> int:
    """
    Import the objects of TEXT, replacing what has the same ids; the number of those taken.
    """
    request = urllib.request.Request(  # noqa: S310 - address() lets only http and https through
        f"{address(target)}/api/saved_objects/_import?overwrite=true",
        data=body(text),
        headers=headers(target),
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT, context=context(target)) as answer:  # noqa: S310
            return judge(target, json.load(answer))
    except urllib.error.HTTPError as error:
        said = error.read(500).decode("utf-8", "replace").strip()
        raise ImportRefusedError(
            f"{target.address} answers {error.code} {error.reason}: {said}"
        ) from None
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise ImportRefusedError(f"{target.address} does not answer: {reason}") from None
    except ValueError:
        raise ImportRefusedError(
            f"{target.address} answers, but not as OpenSearch Dashboards or Kibana does"
        ) from None


def address(target: Target) -> str:
    if urlsplit(target.address).scheme not in ("http", "https"):
        raise ImportRefusedError(f"{target.address}: no address; write http://HOST:5601")
    space = f"/s/{target.space}" if target.space else ""
    return target.address.rstrip("/") + space


def headers(target: Target) -> dict[str, str]:
    found = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "osd-xsrf": "true",
        "kbn-xsrf": "true",
    }
    if target.username:
        plain = f"{target.username}:{target.password}".encode()
        found["Authorization"] = f"Basic {base64.b64encode(plain).decode()}"
    if target.tenant:
        found["securitytenant"] = target.tenant
    return found


def body(text: str) -> bytes:
    head = (
        f"--{BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{BUILT.name}"\r\n'
        "Content-Type: application/ndjson\r\n\r\n"
    )
    return head.encode() + text.encode() + f"\r\n--{BOUNDARY}--\r\n".encode()


def context(target: Target) -> ssl.SSLContext | None:
    if not target.address.startswith("https"):
        return None
    made = ssl.create_default_context(cafile=str(target.ca_file) if target.ca_file else None)
    if not target.verify:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def judge(target: Target, answer: Any) -> int:
    if not isinstance(answer, dict) or "success" not in answer:
        raise ValueError("no import answer")
    errors = answer.get("errors") or []
    if not answer["success"] or errors:
        first = "; ".join(reason(error) for error in errors[:3]) or "no reason given"
        raise ImportRefusedError(
            f"{target.address} took {answer.get('successCount', 0)} objects and refused "
            f"{len(errors)}: {first}"
        )
    return int(answer["successCount"])


def reason(error: dict[str, Any]) -> str:
    kind = error.get("error", {}).get("type", "unknown")
    return f"{error.get('type')}/{error.get('id')} {kind}"
