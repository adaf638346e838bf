"""The CLI's commands, one per file: ``add`` declares the arguments, ``run`` does the work and returns the exit code."""
