"""Index generations: folders, manifests, and which one is published."""
