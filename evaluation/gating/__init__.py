"""Whether a run is worse than a baseline that a repository keeps."""
