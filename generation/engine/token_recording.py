"""Record drawn tokens, and finish samples at end tokens, by stop rules, and at the length limit."""

from __future__ import annotations

from generation.engine.requests import TokenEvent
from generation.engine.sequences import Sample, Ticket
from generation.engine.step_rows import DrawnToken


def record_token(ticket: Ticket, sample: Sample, token: DrawnToken) -> TokenEvent | None:
    """Add the token to the sample, and finish the sample if it is an end token or a stop rule or limit applies.

    Returns the event to report, or None if the stop rule cancelled its own request. Raises the error of the stop rule.
    """
    request = ticket.request
    if token.token_id in request.end_ids:
        sample.finish = "stop"
        return TokenEvent(ticket.handle, sample.index, None, finish_reason="stop")
    sample.token_ids.append(token.token_id)
    sample.logprobs.append(token.logprob)
    sample.sources.append(token.sources)
    if request.params.top_logprobs:
        sample.top_logprobs.append(token.top_logprobs)
    stops = request.stopped is not None and request.stopped(sample.index, sample.decoded())
    if sample.finish is not None:
        return None
    if stops:
        sample.finish = "stop"
    elif len(sample.token_ids) >= ticket.max_new:
        sample.finish = "length"
    return TokenEvent(ticket.handle, sample.index, token.token_id, token.logprob, token.top_logprobs, sample.finish)
