"""Options, waits and headers."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from generation.errors import GenerationError
from generation.remote.options import RemoteOptions
from generation.remote.retries import backoff, retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"url": "127.0.0.1:8080/v1"}, "127.0.0.1:8080/v1"),
        ({"url": "ftp://host/v1"}, "ftp://host/v1"),
        ({"url": "http://"}, "URL"),
        ({"url": "http://host:99999/v1"}, "Port out of range"),
        ({"url": "http://host/v1?key=secret"}, "http://host/v1.*query"),
        ({"model": " "}, "model.*http://host/v1"),
        ({"api": "responses"}, "api.*'responses'"),
        ({"api_key": ""}, "API key.*empty"),
        ({"api_key": "two\nlines"}, "API key"),
        ({"api_key": "clé"}, "API key"),
        ({"context_length": 5}, "context_length.*5"),
        ({"bytes_per_token": 0.0}, "bytes_per_token.*0.0"),
        ({"read_s": math.nan}, "read_s.*nan"),
        ({"total_s": math.inf}, "total_s.*inf"),
        ({"retries": -1}, "retries.*-1"),
        ({"parallel": 0}, "parallel.*0"),
    ],
)
def test_wrong_options_are_refused_by_name(fields: dict[str, object], message: str) -> None:
    with pytest.raises(GenerationError, match=message) as caught:
        RemoteOptions(**({"url": "http://host/v1", "model": "m"} | fields))  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)
    assert "two\nlines" not in str(caught.value)


def test_credentials_are_never_shown() -> None:
    options = RemoteOptions("https://me:hidden@[::1]:8080/v1/", "m", api_key="sk-hidden")
    assert options.shown_url == "https://[::1]:8080/v1"
    assert "hidden" not in repr(options)


def test_waits_double_up_to_the_most_and_are_never_none() -> None:
    assert [backoff(n, 0.5, 4.0, 0.999) for n in (1, 2, 3, 4, 9, 10**6)] == [
        pytest.approx(0.999 * s) for s in (0.5, 1.0, 2.0, 4.0, 4.0, 4.0)
    ]
    assert backoff(3, 0.5, 4.0, 0.0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:00 GMT"}, 60.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-tokens": "12", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2", "retry-after": "1"}, 2.0),
    ],
)
def test_the_wait_that_headers_ask_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds
