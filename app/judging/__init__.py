"""Choose and open the verifier that judges answers."""
