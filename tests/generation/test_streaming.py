"""Joined pieces of streamed text are the text, for three kinds of tokenizers and any tokens and stop strings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from generation.decoding.streaming import TextStream, cut_at_stop

TEXTS = (
    "the lighthouse, built in 1871, isn't tall. Café Zürich",
    "灯台は1871年に建てられました。",
    "emoji 🎉🇩🇪👩‍👩‍👧 mixed\n\ttext  with   blanks ",
)
SPECIAL = ("<s>", "</s>")


@cache
def byte_level() -> Tokenizer:
    """Return a byte-level BPE tokenizer (GPT-2, Llama 3, Qwen) whose tokens may start and end within characters."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.add_tokens([AddedToken("日本<x>", special=False)])
    return tokenizer


@cache
def word_piece() -> Tokenizer:
    """Return a WordPiece tokenizer (BERT): ``##`` continues a word, and other tokens start one after a space."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]", *SPECIAL], show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    return tokenizer


@cache
def metaspace() -> Tokenizer:
    """Return a SentencePiece tokenizer without bytes (T5): a space is part of the token after it."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=160, special_tokens=["<unk>", *SPECIAL], show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    return tokenizer


@cache
def byte_fallback() -> Tokenizer:
    """Return a SentencePiece tokenizer with a token for every byte (Llama 2, Mistral)."""
    pieces = ["<unk>", *SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["▁", "e", "s", ".", "▁the", "▁a", "▁▁", "é", "ing", "▁Zürich", "n't"]
    tokenizer = Tokenizer(
        models.BPE({piece: i for i, piece in enumerate(pieces)}, [], unk_token="<unk>", byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["<unk>", *SPECIAL])
    return tokenizer


FAMILIES = (byte_level, word_piece, metaspace, byte_fallback)
LOSSLESS = FAMILIES[:3]  # returned text is always a prefix of the entire text


def decode_of(tokenizer: Tokenizer) -> Callable[[Sequence[int]], str]:
    return lambda token_ids: str(tokenizer.decode(list(token_ids)))


def characters(token_ids: Sequence[int]) -> str:
    return "".join(map(chr, token_ids))


def run(stream: TextStream, token_ids: Sequence[int]) -> list[str]:
    return [*(stream.push(token) for token in token_ids), stream.finish()]


TOKENS = st.lists(st.integers(0, 1_000), max_size=60)


@pytest.mark.parametrize("family", LOSSLESS)
@settings(deadline=None, max_examples=60)
@given(ids=TOKENS)
def test_any_tokens_give_what_decoding_all_of_them_gives(family: Callable[[], Tokenizer], ids: list[int]) -> None:
    tokenizer = family()
    size = tokenizer.get_vocab_size()
    tokens = [token % (size + 2) for token in ids]  # two IDs without a token, since embeddings may be larger
    stream = TextStream(decode_of(tokenizer))
    pieces = run(stream, tokens)
    assert "".join(pieces) == stream.text == decode_of(tokenizer)(tokens)


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=50)
@given(text=st.text(max_size=40) | st.sampled_from(TEXTS), every=st.integers(1, 5))
def test_encoded_text_comes_back_without_half_characters(
    family: Callable[[], Tokenizer], text: str, every: int
) -> None:
    tokenizer = family()
    tokens = []
    for place, token in enumerate(tokenizer.encode(text, add_special_tokens=False).ids):
        tokens += [token] if place % every else [token, tokenizer.token_to_id("</s>")]  # special tokens between
    full = decode_of(tokenizer)(tokens)
    stream = TextStream(decode_of(tokenizer))
    pieces = run(stream, tokens)
    assert "".join(pieces) == stream.text == full
    if "\ufffd" not in full:
        assert not any("\ufffd" in piece for piece in pieces)


@settings(deadline=None, max_examples=60)
@given(data=st.lists(st.binary(min_size=1, max_size=5) | st.sampled_from([t.encode() for t in TEXTS]), max_size=12))
def test_any_bytes_of_a_byte_level_tokenizer(data: list[bytes]) -> None:
    """They are decoded as in Python: one replacement character for each invalid sequence."""
    tokenizer = byte_level()
    table = bytes_of_tokens()
    by_first = {byte: [t for t, part in table.items() if part[0] == byte] for byte in range(256)}
    full = b"".join(data)
    tokens, place, choose = [], 0, random.Random(len(full))
    while place < len(full):
        fitting = [token for token in by_first[full[place]] if full.startswith(table[token], place)]
        token = choose.choice(fitting)  # any tokens, not only those that the tokenizer produces
        tokens.append(token)
        place += len(table[token])
    assert "".join(run(TextStream(decode_of(tokenizer)), tokens)) == full.decode("utf-8", errors="replace")


@cache
def bytes_of_tokens() -> dict[int, bytes]:
    tokenizer = byte_level()
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]  # GPT-2's bytes_to_unicode
    other = [byte for byte in range(256) if byte not in plain]
    table = {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(other)}
    return {
        token: bytes(table[c] for c in text)
        for text, token in tokenizer.get_vocab(with_added_tokens=False).items()
        if all(c in table for c in text)
    }


@settings(deadline=None, max_examples=60)
@given(ids=TOKENS)
def test_byte_fallback_keeps_the_characters_that_were_right(ids: list[int]) -> None:
    """The library replaces an entire run of bytes if one is invalid. Here, valid characters are kept."""
    tokenizer = byte_fallback()
    tokens = [token % tokenizer.get_vocab_size() for token in ids]
    stream = TextStream(decode_of(tokenizer))
    pieces = run(stream, tokens)
    assert "".join(pieces) == stream.text
    full = decode_of(tokenizer)(tokens)
    if "\ufffd" not in full:
        assert stream.text == full
    rest = iter(stream.text)
    assert all(c in rest for c in full if c != "\ufffd")  # no text is missing


def test_a_wrong_byte_after_right_ones() -> None:
    tokenizer = byte_fallback()
    tokens = [tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in (*"é€".encode(), 0xFF, *"🎉".encode())]
    pieces = run(TextStream(decode_of(tokenizer)), [tokenizer.token_to_id("▁the"), *tokens])
    assert [piece for piece in pieces if piece][:3] == ["the", "é", "€"]


@pytest.mark.parametrize("family", FAMILIES)
@settings(deadline=None, max_examples=50)
@given(
    ids=TOKENS,
    stops=st.lists(st.text(alphabet="ta e�sé", min_size=1, max_size=4), max_size=4),
    strip=st.booleans(),
    data=st.data(),
)
def test_nothing_of_a_stop_string_is_ever_given_out(
    family: Callable[[], Tokenizer], ids: list[int], stops: list[str], strip: bool, data: st.DataObject
) -> None:
    tokenizer = family()
    tokens = [token % tokenizer.get_vocab_size() for token in ids]
    plain = TextStream(decode_of(tokenizer))
    run(plain, tokens)
    if plain.text:  # stop strings that occur in the text
        start = data.draw(st.integers(0, len(plain.text) - 1))
        stops = [*stops, plain.text[start : start + data.draw(st.integers(1, 12))]]
    stream = TextStream(decode_of(tokenizer), stops, strip=strip)
    seen = ""
    for token in tokens:
        seen += stream.push(token)
        assert stream.text == seen
    seen += stream.finish()
    cut = reference_cut(plain.text, stops)
    expected = plain.text if cut is None else plain.text[:cut]
    assert seen == (expected.strip() if strip else expected)
    assert stream.text == seen
    assert stream.stopped == (cut is not None)
    assert cut_at_stop(plain.text, stops) == cut
    if stream.stopped:
        assert (stream.push(0), stream.finish()) == ("", "")


def reference_cut(text: str, stops: Sequence[str]) -> int | None:
    """Return the offset of the stop string that ends first, and of the longest one among equals."""
    ends = [(place + len(stop), -len(stop)) for stop in stops if (place := text.find(stop)) >= 0]
    return sum(min(ends)) if ends else None


def test_text_waits_while_it_may_become_a_stop_string() -> None:
    stream = TextStream(characters, ["\n\nQ:", "abab"])
    pieces = [stream.push(ord(c)) for c in "xaba\n\naQ\n\nQ:zz"]
    assert pieces[:5] == ["x", "", "", "", "aba"]
    assert "".join(pieces) == stream.text == "xaba\n\naQ"
    assert stream.stopped
    assert stream.finish() == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_the_work_for_a_token_does_not_grow(family: Callable[[], Tokenizer]) -> None:
    tokenizer = family()
    choose = random.Random(1)
    text = tokenizer.encode(" ".join(TEXTS), add_special_tokens=False).ids
    anything = [choose.randrange(tokenizer.get_vocab_size() + 2) for _ in range(2_000)]
    special = [text[0], *([tokenizer.token_to_id("</s>")] * 500), text[0]]
    for tokens in (text * 10, anything, special, text[-1:] * 1_000):
        decoded = 0

        def counted(ids: Sequence[int]) -> str:
            nonlocal decoded
            decoded += len(ids)
            return str(tokenizer.decode(list(ids)))

        run(TextStream(counted), tokens)
        assert decoded <= 45 * len(tokens)


def test_a_chain_of_tokens_that_all_end_within_a_character_is_decoded_in_constant_work() -> None:
    """In the worst case, no boundary between tokens is a boundary between characters."""
    chain = [b"\xe2", *([b"\x82\xac\xe2"] * 500), b"\x82\xac"]
    longest = 0

    def decode(ids: Sequence[int]) -> str:
        nonlocal longest
        longest = max(longest, len(ids))
        return b"".join(chain[i] for i in ids).decode("utf-8", errors="replace")

    pieces = run(TextStream(decode), range(len(chain)))
    assert "".join(pieces) == "€" * 501
    assert longest <= 16
    assert set(pieces) == {"", "€"}


def test_white_space_at_both_ends_is_left_out() -> None:
    stream = TextStream(characters, strip=True)
    assert "".join(run(stream, [ord(c) for c in " \n a  b\t\n "])) == stream.text == "a  b"
    empty = TextStream(characters, strip=True)
    assert run(empty, [32, 10, 32]) == ["", "", "", ""]
