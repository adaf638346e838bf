"""Index generations: folders, manifests and publication."""
