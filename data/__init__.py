"""Documents, questions, their loaders, and the SQL store. It imports no other package of Plumbline."""
