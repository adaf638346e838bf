"""Write the OpenAPI snapshot with which test_service_schema.py compares the service."""

from __future__ import annotations

import json

from tests.app.test_service_schema import SNAPSHOT, described

if __name__ == "__main__":
    found = described()
    found["info"].pop("version")
    SNAPSHOT.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
