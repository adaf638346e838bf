"""Parts of a query result: their JSON form, storage and streaming."""
