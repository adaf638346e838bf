"""Synthetic reviews of a place, and statements about them."""

from __future__ import annotations

from random import Random

from evaluation.synthetic_claims.facts import Fact
from evaluation.synthetic_claims.record_words import BLAME, DAYS, DISHES, PRAISE, STAFF_BAD, STAFF_GOOD

_VIEW = ("One reviewer {view} the {dish}.", "A customer {view} the {dish}.", "In a review, a guest {view} the {dish}.")
_STAFF = ("One customer found the service {staff}.", "A reviewer described the staff as {staff}.")


def reviews_of(chance: Random) -> tuple[list[object], list[Fact]]:
    """Return up to three reviews of a record, each about a different dish, and the facts in them."""
    reviews: list[object] = []
    facts: list[Fact] = []
    dishes = chance.sample(DISHES, 8)
    count = chance.choice((0, 1, 2, 3))
    for dish in dishes[:count]:
        liked, good_staff = chance.random() < 0.6, chance.random() < 0.5
        taste, staff = chance.choice(PRAISE if liked else BLAME), chance.choice(STAFF_GOOD if good_staff else STAFF_BAD)
        first = f"{chance.choice(('The', 'Their', 'I tried the', 'We had the'))} {dish}"
        first += f" was {taste}." if first.startswith("The") else f" and it was {taste}."
        second = chance.choice((f"The staff were {staff}.", f"Our server was {staff}.", f"Service was {staff}."))
        parts = [first, second] if chance.random() < 0.7 else [second, first]
        parts.append(chance.choice(("Will be back soon.", f"We went on a {chance.choice(DAYS)}.", "It was busy.", "")))
        stars = 3.0 if liked != good_staff else chance.choice((4.0, 5.0) if liked else (1.0, 2.0))
        reviews.append({"review_stars": stars, "review_text": " ".join(parts).strip()})
        view, other = ("praised", "criticized") if liked else ("criticized", "praised")
        facts.append(Fact(_VIEW, {"view": view, "dish": dish}, {"view": (other,), "dish": tuple(dishes[4:])}))
        # Another reviewer may differ about the staff, so a corrupted claim must be about a single review.
        wrong = tuple(chance.sample(STAFF_BAD if good_staff else STAFF_GOOD, 2))
        facts.append(Fact(_STAFF, {"staff": staff}, {"staff": wrong} if count == 1 else {}))
    return reviews, facts
