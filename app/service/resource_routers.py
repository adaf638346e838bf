"""The routers of collections, jobs, evaluations, searching and verifying, and of their pages."""

from __future__ import annotations

from app.service.collections import collections_router
from app.service.evaluations import evaluations_router
from app.service.jobs import jobs_router
from app.service.pages_collections import collections_pages
from app.service.pages_evaluations import evaluations_pages
from app.service.pages_frame import login_pages
from app.service.pages_label_files import label_files_pages
from app.service.pages_labels import labels_pages
from app.service.retrieve import retrieve_router
from app.service.verify import verify_router

resource_routers = (
    *(collections_router, jobs_router, evaluations_router, retrieve_router, verify_router),
    *(collections_pages, evaluations_pages, label_files_pages, labels_pages, login_pages),
)
