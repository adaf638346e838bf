"""How the tables came to be what they are: Alembic's environment, and one revision a version of the schema."""
