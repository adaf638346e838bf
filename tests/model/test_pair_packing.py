"""A packed classifier scores as a plain one; one that reads its layers' weights itself is left as it was."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForSequenceClassification

from model.decoder.packing import PackedLinear, can_pack
from model.pairs.packing import pack_classifier

pytestmark = pytest.mark.skipif(not can_pack(torch.device("cpu"), torch.float32), reason="this torch has no oneDNN")

PROBE = {
    "input_ids": torch.tensor([[2, 5, 6, 3], [2, 7, 3, 0]]),
    "attention_mask": torch.tensor([[1] * 4, [1, 1, 1, 0]]),
}


def bert() -> BertForSequenceClassification:
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=40, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_labels=3
    )
    return BertForSequenceClassification(config).eval().requires_grad_(False)


class ReadsItsWeights(nn.Module):
    """Multiplies with a layer's weight instead of calling the layer, as DeBERTa's first version does."""

    def __init__(self, touches: bool) -> None:
        super().__init__()
        self.layer, self.touches = nn.Linear(1, 2), touches

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        x = (input_ids * attention_mask).sum(dim=1, keepdim=True).float()
        if self.touches:
            return SimpleNamespace(logits=x @ self.layer.weight.t())
        # Does something else with whatever is no nn.Linear.
        return SimpleNamespace(logits=self.layer(x) if type(self.layer) is nn.Linear else x.expand(-1, 2))


def test_a_packed_classifier_gives_the_same_logits_and_holds_no_plain_layer() -> None:
    model = bert()
    inputs = {"input_ids": torch.randint(1, 40, (5, 17)), "attention_mask": torch.ones(5, 17, dtype=torch.long)}
    with torch.inference_mode():
        plain = model(**inputs).logits
        assert pack_classifier(model, PROBE)
        torch.testing.assert_close(model(**inputs).logits, plain, rtol=1e-4, atol=1e-5)
    layers = [type(module) for module in model.modules()]
    assert nn.Linear not in layers
    assert layers.count(PackedLinear) == 2 * 6 + 2  # of each layer six; the pooler and the classifier


@pytest.mark.parametrize("touches", [True, False])
def test_code_that_will_not_have_it_keeps_its_own_layers(touches: bool) -> None:
    torch.manual_seed(0)
    model = ReadsItsWeights(touches).eval().requires_grad_(False)
    layer = model.layer
    expected = model(**PROBE).logits
    assert not pack_classifier(model, PROBE)
    assert model.layer is layer
    assert torch.equal(model(**PROBE).logits, expected)


def test_a_precision_that_cannot_be_packed_stays_plain() -> None:
    model = bert().to(dtype=torch.float16)
    assert not pack_classifier(model, PROBE)
    assert nn.Linear in [type(module) for module in model.modules()]
