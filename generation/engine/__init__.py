"""The decoder engine: many requests at once on one model, with shared beginnings, joining and leaving at every step."""
