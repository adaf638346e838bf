"""Rule-based generation of supported and unsupported claims, which train and test verifiers."""
