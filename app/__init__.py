"""The application: settings, pipeline, command line and REST service. The only package that reads the environment."""
