"""Openings that chatbots use.

Supported and unsupported claims get the same openings, so that these do not reveal the label.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from evaluation.synthetic_claims.edits import EditedClaim
from evaluation.synthetic_claims.shortening import lower_first_word

_LEADS = tuple(
    line.strip()
    for line in """
According to the passage,
According to the passages,
According to the text,
According to the given passage,
According to the article,
According to the provided information,
According to the information provided,
According to passage 1,
According to passage 2,
Based on the given information,
Based on the passages,
Based on the provided passages,
Based on the passage,
Based on the information provided,
Based on the text,
Based on the data,
From the passage,
As stated in the passage,
As mentioned in the text,
As described in the article,
In summary,
In short,
Overall,
To summarize,
To answer the question,
In addition,
Additionally,
Furthermore,
Moreover,
Also,
The passage states that
The text says that
The article mentions that
The passage explains that
The author notes that
It is stated that
It is mentioned that
The document says that
The report says that
The article reports that
Sources say that
The information provided shows that
The passages show that
""".strip().splitlines()
)


def with_lead(claim: EditedClaim, chance: Random, plain: Collection[str] = (), share: float = 0.12) -> EditedClaim:
    """Return the claim after an opening, with probability ``share``. plain: see ``lower_first_word``."""
    if chance.random() >= share:
        return claim
    lead = chance.choice(_LEADS) + " "
    return EditedClaim(lower_first_word(claim.text, plain), claim.wrong).after(lead)
