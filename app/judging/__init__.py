"""Open the verifier that judges answers, and judge answers with it."""
