"""The REST service: FastAPI at the edge, one Pipeline behind it."""
