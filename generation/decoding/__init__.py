"""From logits to text: sampling, the decoding loop, streaming."""
