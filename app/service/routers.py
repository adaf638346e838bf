"""Lists the routers of collections, jobs, evaluations, retrieval, verification and the watch, and of their pages."""

from __future__ import annotations

from app.service.api.collections import collections_router
from app.service.api.evaluations import evaluations_router
from app.service.api.jobs import jobs_router
from app.service.api.retrieve import retrieve_router
from app.service.api.verify import verify_router
from app.service.api.watch import watch_router
from app.service.pages.audit_labels import audit_labels_pages
from app.service.pages.collections import collections_pages
from app.service.pages.evaluations import evaluations_pages
from app.service.pages.frame import login_pages
from app.service.pages.label_files import label_files_pages
from app.service.pages.labels import labels_pages
from app.service.pages.watch import watch_pages

resource_routers = (
    *(collections_router, jobs_router, evaluations_router, retrieve_router, verify_router, watch_router),
    *(collections_pages, evaluations_pages, label_files_pages, labels_pages, login_pages),
    *(audit_labels_pages, watch_pages),
)
