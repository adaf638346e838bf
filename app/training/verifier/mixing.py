"""The weights of other verifiers that a trained one is mixed with: those it began from, and other runs'."""

from __future__ import annotations

from app.training.verifier.recipe import VerifierRecipe
from model.errors import ModelError
from model.training.averaging import average_with, weights_of
from model.verifier.encoder import SupportEncoder
from model.verifier.files import load_support


class WeightMixture:
    """Read before the run, since folders may change while it lasts."""

    def __init__(self, recipe: VerifierRecipe, begun: SupportEncoder) -> None:
        """begun: the network as the run begins from it.

        Raises ModelError for shares outside [0, 1] or above 1 together, for a verifier of other features (whose weights
        have the same shapes) or another number of layers, and as load_support does.
        """
        shares = [recipe.start_share, *(share for _, share in recipe.mix)]
        if not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-9:  # nor NaN
            raise ModelError(
                f"shares of other weights are {', '.join(map(str, shares))}: they must be in [0, 1] together"
            )
        loaded = [(load_support(folder), share) for folder, share in recipe.mix]
        for (folder, _), (verifier, _) in zip(recipe.mix, loaded, strict=True):
            theirs = verifier.model
            if (theirs.features, theirs.config) != (begun.features, begun.config):
                raise ModelError(
                    f"{folder} is another network ({theirs.features}, {theirs.config.num_layers} layers): it cannot be "
                    "mixed in"
                )
        self.named = tuple((verifier.fingerprint, share) for verifier, share in loaded)
        self._others = [
            (weights_of(begun), recipe.start_share),
            *((v.model.state_dict(), share) for v, share in loaded),
        ]

    def into(self, model: SupportEncoder) -> None:
        """The mean of the model's weights and these, in place. Raises ModelError as average_with does."""
        average_with(model, self._others)
