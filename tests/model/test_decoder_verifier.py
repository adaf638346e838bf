"""benchmarks.decoder_verifier on a tiny Llama: what is trained, what is read, and that an adapter can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.decoder_verifier import DecoderVerifier, load_adapter, padded, save_adapter, start_from_probe
from model.decoder.decoder import Decoder
from model.errors import ModelError
from tests.tiny_decoders import LLAMA, PREFIX

_PROMPTS = [(1, 2, 3, 4, 5), (6, 7, 8), (9, 10, 11, 12, 13, 14, 15, 16, 17)]


def _verifier(seed: int = 0) -> DecoderVerifier:
    torch.manual_seed(seed)
    decoder = Decoder(LLAMA).eval().requires_grad_(False)
    return DecoderVerifier(decoder, torch.randn(LLAMA.hidden_size), first_layer=1, rank=2, scale=4.0)


def _plain_logits(verifier: DecoderVerifier) -> torch.Tensor:
    torch.manual_seed(0)
    decoder = Decoder(LLAMA).eval()
    return torch.stack([decoder(torch.tensor([prompt]))[0, -1] @ verifier.head for prompt in _PROMPTS])


def test_fresh_adapters_change_nothing_and_padding_is_not_read() -> None:
    verifier = _verifier()

    logits = verifier(*padded(_PROMPTS))

    torch.testing.assert_close(logits, _plain_logits(verifier))


def test_only_adapters_of_the_upper_layers_and_the_head_learn() -> None:
    verifier = _verifier()
    before = {name: p.clone() for name, p in verifier.decoder.named_parameters()}

    optimizer = torch.optim.SGD(verifier.parameters(), lr=1.0)
    for _ in range(2):  # the lower factor has a gradient once the upper one is not zero
        optimizer.zero_grad()
        verifier(*padded(_PROMPTS)).sum().backward()
        optimizer.step()

    assert {name.split(".")[1].split("_")[0] for name, _ in verifier.adapters.named_parameters(prefix="a")} == {"1"}
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in verifier.parameters())
    frozen = dict(verifier.decoder.blocks[0].named_parameters())
    assert frozen and all(
        torch.equal(before[f"blocks.0.{name}"], p) for name, p in frozen.items() if "down" not in name
    )


def test_an_adapter_that_is_saved_gives_the_same_logits_elsewhere(tmp_path: Path) -> None:
    verifier, other = _verifier(), _verifier()
    with torch.no_grad():
        for parameter in verifier.parameters():
            parameter.copy_(torch.randn_like(parameter).half().float())
    save_adapter(verifier, tmp_path / "adapter.safetensors")

    load_adapter(other, tmp_path / "adapter.safetensors")

    batch = padded(_PROMPTS)
    torch.testing.assert_close(other(*batch), verifier(*batch))
    assert not torch.allclose(other(*batch), _verifier()(*batch))


def test_the_probe_tells_what_its_rows_tell() -> None:
    verifier = _verifier()
    chance = torch.Generator().manual_seed(0)
    supported = [number % 3 == 0 for number in range(60)]
    first = [torch.randint(1, 40, (5,), generator=chance).tolist() for _ in supported]
    prompts = [(*ids, 7 if good else 30) for ids, good in zip(first, supported, strict=True)]

    start_from_probe(verifier, prompts, supported)

    logits = verifier(*padded(prompts)).detach()
    good, bad = logits[torch.tensor(supported)], logits[~torch.tensor(supported)]
    assert (good[:, None] > bad[None, :]).all()


def test_an_adapter_of_another_rank_is_refused(tmp_path: Path) -> None:
    save_adapter(_verifier(), tmp_path / "adapter.safetensors")
    decoder = Decoder(LLAMA).requires_grad_(False)
    other = DecoderVerifier(decoder, torch.zeros(LLAMA.hidden_size), first_layer=1, rank=3, scale=4.0)

    with pytest.raises(RuntimeError, match="size mismatch"):
        load_adapter(other, tmp_path / "adapter.safetensors")


@pytest.mark.parametrize("first_layer", [-1, LLAMA.num_layers])
def test_a_first_layer_that_is_not_there_is_refused(first_layer: int) -> None:
    decoder = Decoder(LLAMA)

    with pytest.raises(ModelError, match=str(first_layer)):
        DecoderVerifier(decoder, torch.zeros(LLAMA.hidden_size), first_layer=first_layer, rank=2, scale=4.0)


def test_a_decoder_without_a_final_norm_is_refused() -> None:
    with pytest.raises(ModelError, match="rotary"):
        DecoderVerifier(Decoder(PREFIX), torch.zeros(PREFIX.hidden_size), first_layer=0, rank=2, scale=4.0)
