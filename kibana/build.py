"""
Builds leadline.ndjson, the file to import, from objects/: `python -m kibana.build`.

The objects are written for people, with what the products keep as JSON inside a string written as
plain JSON. The build is deterministic: objects sorted by type and id, keys as they stand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILT = HERE / "leadline.ndjson"

# Attributes that the products keep as a string of JSON.
STRINGS = ("visState", "uiStateJSON", "optionsJSON", "panelsJSON", "fieldFormatMap")


def objects(folder: Path = HERE / "objects") -> list[dict[str, Any]]:
    """
    Every object as it stands in its file, sorted by type and id.
    """
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("*.json")]
    return sorted(found, key=lambda one: (one["type"], one["id"]))


def as_imported(one: dict[str, Any]) -> dict[str, Any]:
    """
    An object in the form that the import API takes.
    """
    attributes = dict(one["attributes"])
    if isinstance(spec := attributes.get("visState", {}).get("params", {}).get("spec"), dict):
        state = attributes["visState"]
        params = {**state["params"], "spec": compact(spec)}
        attributes["visState"] = {**state, "params": params}
    for name in STRINGS:
        if name in attributes:
            attributes[name] = compact(attributes[name])
    meta = attributes.get("kibanaSavedObjectMeta")
    if meta is not None:
        attributes["kibanaSavedObjectMeta"] = {
            "searchSourceJSON": compact(meta["searchSourceJSON"])
        }
    return {**one, "attributes": attributes}


def shipped(file: Path = BUILT) -> list[dict[str, Any]]:
    """
    The objects read back from the built file, which a wheel carries without their sources.
    """
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [one for one in lines if "type" in one]
    for one in found:
        attributes = one["attributes"]
        for name in STRINGS:
            if name in attributes:
                attributes[name] = json.loads(attributes[name])
        if (meta := attributes.get("kibanaSavedObjectMeta")) is not None:
            meta["searchSourceJSON"] = json.loads(meta["searchSourceJSON"])
        params = attributes.get("visState", {}).get("params", {})
        if "spec" in params:
            params["spec"] = json.loads(params["spec"])
    return found


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def built(found: list[dict[str, Any]] | None = None) -> str:
    lines = [compact(as_imported(one)) for one in (objects() if found is None else found)]
    summary = {"exportedCount": len(lines), "missingRefCount": 0, "missingReferences": []}
    return "\n".join([*lines, compact(summary)]) + "\n"


def main() -> int:
    if "--check" in sys.argv:
        return int(BUILT.read_text(encoding="utf-8") != built())
    BUILT.write_text(built(), encoding="utf-8")
    print(f"wrote {BUILT} with {len(objects())} objects")
    return 0


if __name__ == "__main__":
    sys.exit(main())
