"""The page of the watch: rates in service by certificate, alarms, and the audits that wait for a label."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.service.api.watch import Evaluator, ResourcesDep, WatchingDep, own_status
from app.service.pages.frame import page
from app.service.pages.watch_chart import HEIGHT, WIDTH, watch_chart
from app.watching.status import NEVER_RENEWS, QUESTIONS, RATE, VERIFIER
from app.watching.status_lines import rows

watch_pages = APIRouter(include_in_schema=False)
_ALARMS = {
    RATE: "the rate exceeds the certified one",
    QUESTIONS: "questions are unlike those of the calibration",
    VERIFIER: "the verifier got worse",
}


@watch_pages.get("/watch")
async def show(caller: Evaluator, resources: ResourcesDep, watched: WatchingDep) -> HTMLResponse:
    """Show all watches of the caller's collections."""
    watches = await resources.do(own_status, watched, resources, caller)
    collections: list[dict[str, Any]] = [
        {
            "name": one.name,
            "clock": one.clock,
            "waiting": sum(watch.reading.waiting for watch in one.watches),
            "drawn": sum(watch.reading.drawn for watch in one.watches),
            "watches": [{"watch": w, "rows": [*rows(w)], "chart": watch_chart(w)} for w in one.watches],
        }
        for one in watches
    ]
    return page(
        "watch.html.j2",
        caller,
        "watch",
        collections=collections,
        raised=sum(len(one.alarms) for one in watches),
        rate=resources.pipeline.settings.audit_rate,
        never_renews=NEVER_RENEWS,
        alarms=_ALARMS,
        width=WIDTH,
        height=HEIGHT,
    )
