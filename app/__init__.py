"""Settings, wiring, the command line and the REST service: the only room that reads the environment."""
