"""Average the weights of a trained verifier with its initial weights and with those of other verifiers."""

from __future__ import annotations

from app.training.verifier.recipe import VerifierRecipe
from model.errors import ModelError
from model.training.averaging import average_with, weights_of
from model.verifier.encoder import SupportEncoder
from model.verifier.files import load_support


class WeightMixture:
    """The weights to average with. They are loaded before the run, because the folders may change during it."""

    def __init__(self, recipe: VerifierRecipe, begun: SupportEncoder) -> None:
        """Load the weights. begun: initial network of the run.

        Raises ModelError for shares outside [0, 1] or with a sum above 1, for a verifier with other features or another
        number of layers, and the errors of load_support.
        """
        shares = [recipe.start_share, *(share for _, share in recipe.mix)]
        if not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-9:  # rejects NaN too
            raise ModelError(f"shares of other weights are {', '.join(map(str, shares))}: their sum must be in [0, 1]")
        loaded = [(load_support(folder), share) for folder, share in recipe.mix]
        for (folder, _), (verifier, _) in zip(recipe.mix, loaded, strict=True):
            theirs = verifier.model
            if (theirs.features, theirs.config) != (begun.features, begun.config):
                raise ModelError(
                    f"{folder} is another network ({theirs.features}, "
                    f"{theirs.config.num_layers} layers): it cannot be averaged with this one"
                )
        self.named = tuple((verifier.fingerprint, share) for verifier, share in loaded)
        self._others = [
            (weights_of(begun), recipe.start_share),
            *((v.model.state_dict(), share) for v, share in loaded),
        ]

    def average_into(self, model: SupportEncoder) -> None:
        """Average the model's weights with these in place. Raises the ModelError of average_with."""
        average_with(model, self._others)
