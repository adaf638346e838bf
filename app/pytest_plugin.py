"""pytest plugin: a fixture with a stored run, and an assertion on its hallucination rate.

    def test_hallucinations(plumbline_run):
        plumbline_run.assert_hallucination_rate(at_most=0.10, arm="rag")

``pytest --plumbline-run RUN`` names the run (default: the latest one in --plumbline-home, PLUMBLINE_HOME or
~/.plumbline). A test that uses the fixture is skipped if --plumbline-run is not given and there is no run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from app.gates.gate import GatedRun
    from evaluation.statistics.estimates import HallucinationEstimate
    from evaluation.statistics.run_summary import RunSummary


@dataclass(frozen=True, slots=True)
class PlumblineRun:
    """A finished run, as the fixture ``plumbline_run`` returns it."""

    run: GatedRun

    @property
    def id(self) -> str:
        """The ID of the run."""
        return self.run.info.id

    @property
    def summary(self) -> RunSummary:
        """Rates and paired differences of the arms, with intervals."""
        return self.run.summary

    def assert_hallucination_rate(
        self, at_most: float, *, arm: str | None = None, by: Literal["upper", "rate"] = "upper"
    ) -> HallucinationEstimate:
        """Assert that the hallucination rate is at most ``at_most``, and return the estimate.

        by: "upper" compares the upper limit of the confidence interval, "rate" the point estimate. arm: optional if the
        run has one arm. Unscored responses count as hallucinated, so that the assertion fails if nothing was measured.
        Raises AssertionError if the rate is higher or undefined, ValueError for invalid arguments.
        """
        if not 0 <= at_most <= 1:
            raise ValueError(f"at_most is {at_most}: a rate lies in [0, 1], 10 % is 0.10")
        arms = {one.arm: one for one in self.summary.arms}
        if arm is None and len(arms) > 1:
            raise ValueError(f"the run has the arms {', '.join(arms)}: choose one with arm=")
        name = next(iter(arms)) if arm is None else arm
        if name not in arms:
            raise ValueError(f"there is no arm {name!r}: choose from {', '.join(arms)}")
        estimate = arms[name].hall_if_unscored_hallucinated
        value = estimate.upper if by == "upper" else estimate.rate
        if value is None or value > at_most:
            measured = (
                f"undefined ({estimate.reason})"
                if estimate.rate is None
                else f"{estimate.rate:.1%} [{estimate.lower:.1%}, {estimate.upper:.1%}]"
            )
            figure = "upper limit" if by == "upper" else "rate"
            raise AssertionError(
                f"hallucination rate of {name} in run {self.id}: {measured} at level {estimate.level:g}, "
                f"{estimate.responses} responses to {estimate.questions} questions; its {figure} is above {at_most:.1%}"
            )
        return estimate


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options --plumbline-run and --plumbline-home."""
    group = parser.getgroup("plumbline")
    group.addoption("--plumbline-run", metavar="RUN", default=None, help="a finished run's id (default: the latest)")
    group.addoption("--plumbline-home", metavar="FOLDER", default=None, help="data directory (home) of the run")


@pytest.fixture(scope="session")
def plumbline_run(request: pytest.FixtureRequest) -> PlumblineRun:
    """Return the run named by --plumbline-run, or the latest run."""
    from app.errors import USER_ERRORS, AppError
    from app.gates.gate import LATEST, gated_run
    from app.pipeline import Pipeline
    from app.settings import Settings

    named: str | None = request.config.getoption("--plumbline-run")
    home: str | None = request.config.getoption("--plumbline-home")
    settings = Settings.for_home(Path(home) if home else None)
    if named is None and not settings.database and not (settings.home_folder / "plumbline.db").is_file():
        pytest.skip(f"no run: {settings.home_folder} holds no database; name one with --plumbline-run")
    try:
        with Pipeline(settings) as pipeline:
            return PlumblineRun(gated_run(pipeline, named or LATEST))
    except AppError as error:
        if named is None:
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    except USER_ERRORS as error:
        pytest.fail(str(error), pytrace=False)
