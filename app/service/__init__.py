"""The REST service: FastAPI routes in front of one Pipeline."""
