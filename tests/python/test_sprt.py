"""Sequential tests: published values, error rates on simulated matches, and what they depend on."""

import math

import numpy as np
import pytest

from carc.errors import ConfigError
from carc.pentanomial import count_pairs, score_of_elo
from carc.sprt import SequentialTest, SprtRun, elo_llr, leading, margin_llr
from simulated_matches import margins, mean_of_share, shares

MATCHES = 1000


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "normalized", "llr"),
    [
        # fastchess, app/tests/sprt_test.cpp: pairs, then games.
        ([223, 9863, 21279, 10037, 246], 0.5, 2.5, False, -3.07),
        ([871, 26175, 55983, 26678, 821], 0, 2, False, -4.98),
        ([365, 16618, 36229, 16974, 390], 0, 2, True, 2.25),
        ([127, 4883, 10712, 5150, 104], -1.75, 0.25, True, 3.01),
        ([21184, 40708, 21404], 0.5, 2.5, False, -1.57),
        ([57030, 106593, 57433], 0, 2, False, -2.59),
        ([36027, 68692, 36433], 0, 2, True, 0.92),
        ([10650, 20431, 10871], -1.75, 0.25, True, 2.30),
        # Output of fastchess, https://github.com/Disservin/fastchess/pull/783: 2.94598.
        ([379, 10170, 21828, 10640, 343], 0, 2, True, 2.946),
    ],
)
def test_llr_agrees_with_fastchess(
    counts: list[int], elo0: float, elo1: float, normalized: bool, llr: float
) -> None:
    assert elo_llr(counts, elo0, elo1, normalized=normalized) == pytest.approx(llr, abs=0.005)


def test_llr_of_many_counts_is_that_of_each() -> None:
    counts = np.array([[3, 1, 4, 1, 5], [0, 0, 9, 0, 2], [0, 0, 0, 0, 7]])
    together = elo_llr(counts, 0, 30)
    assert together == pytest.approx([float(elo_llr(each, 0, 30)) for each in counts])
    assert np.isfinite(together).all()


def test_a_pair_that_was_won_is_worth_no_more_than_the_ratio_of_the_scores() -> None:
    ratio = math.log(score_of_elo(50) / score_of_elo(0))
    assert float(elo_llr([0, 0, 0, 0, 8], 0, 50)) == pytest.approx(8 * ratio, rel=1e-3)


def test_llr_of_margins_worked_out_by_hand() -> None:
    # Margins 4, 8 and 6: squares about 0 are 116, about 5 they are 11; (3 - 1) / 2 ln(116 / 11).
    llr = margin_llr(3, 18, 116, 0, 5)
    assert float(llr) == pytest.approx(math.log(116 / 11))
    # Alike, 4 and 4: the variance is taken for 0.001, the squares for 2.002 and 32.002.
    assert float(margin_llr(2, 8, 32, 0, 5)) == pytest.approx(math.log(32.002 / 2.002) / 2)


def test_bounds_are_walds() -> None:
    assert SequentialTest("elo", 0, 5).bounds == pytest.approx((-2.944, 2.944), abs=1e-3)
    uneven = SequentialTest("elo", 0, 5, alpha=0.1, beta=0.01)
    assert uneven.bounds == pytest.approx((math.log(0.01 / 0.9), math.log(0.99 / 0.1)))


def results_of(
    kind: str, low: float, high: float, true: float, seed: int, pairs: int
) -> np.ndarray:
    """Return the pairs [match, pair] of simulated matches whose true difference is given."""
    rng = np.random.default_rng(seed)
    if kind == "margin":
        return margins(rng, true, MATCHES, pairs).mean(axis=-1)
    return shares(margins(rng, mean_of_share(score_of_elo(true)), MATCHES, pairs)).sum(axis=-1)


def verdicts(test: SequentialTest, results: np.ndarray) -> list[str | None]:
    """Return the verdict on each match; no more of it is looked at than is needed, for speed."""
    found = []
    for each in results:
        pairs = 64
        while (state := test.state(each[:pairs])).verdict is None and pairs < len(each):
            pairs *= 2
        found.append(state.verdict)
    return found


# At a rate of 5 %, 1,000 matches have more than 6.6 % errors in 1 % of runs. The longest matches
# are so long that at most a few remain open.
LIMIT = 0.066
CASES = [
    ("elo", 0.0, 80.0, 600),
    ("elo", 150.0, 250.0, 600),
    ("margin", 0.0, 4.0, 600),
    ("margin", 0.0, 8.0, 200),
    ("margin", 2.0, 20.0, 100),
]
LONG = [("elo", 0.0, 20.0, 8000), ("elo", 0.0, 40.0, 2000), ("margin", 0.0, 1.0, 10000)]


def check_error_rates(kind: str, low: float, high: float, pairs: int) -> None:
    test = SequentialTest(kind, low, high)  # type: ignore[arg-type]
    for true, wrong in ((low, "H1"), (high, "H0")):
        found = verdicts(test, results_of(kind, low, high, true, 17, pairs))
        assert found.count(wrong) / MATCHES <= LIMIT
        assert found.count(None) / MATCHES <= 0.01


@pytest.mark.parametrize(("kind", "low", "high", "pairs"), CASES)
def test_error_rates_are_within_alpha_and_beta(
    kind: str, low: float, high: float, pairs: int
) -> None:
    check_error_rates(kind, low, high, pairs)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "low", "high", "pairs"), LONG)
def test_error_rates_of_close_hypotheses_are_within_alpha_and_beta(
    kind: str, low: float, high: float, pairs: int
) -> None:
    check_error_rates(kind, low, high, pairs)


@pytest.mark.parametrize(("kind", "low", "high"), [("elo", 0, 60), ("margin", 0, 5)])
def test_the_order_in_which_pairs_end_changes_nothing(kind: str, low: float, high: float) -> None:
    results = results_of(kind, low, high, high, 3, 300)[0].tolist()
    test = SequentialTest(kind, low, high)  # type: ignore[arg-type]
    expected = test.state(results)
    assert expected.verdict is not None
    assert expected.pairs < len(results)
    for seed in range(3):
        run = SprtRun(test)
        for deck in np.random.default_rng(seed).permutation(len(results)).tolist():
            run.update(deck, results[deck])
        assert (run.state.pairs, run.state.verdict) == (expected.pairs, expected.verdict)
        assert run.state.llr == pytest.approx(expected.llr)


def test_a_verdict_stands_whatever_comes_after_it() -> None:
    test = SequentialTest("margin", 0, 5)
    decided = test.state([6.0, 4.0] * 10)
    assert decided.verdict == "H1"
    assert test.state([6.0, 4.0] * 10 + [-90.0] * 50) == decided


def test_no_verdict_before_the_minimum() -> None:
    won = [6.0, 4.0] * 10
    assert SequentialTest("margin", 0, 5).state(won).pairs == 10
    assert SequentialTest("margin", 0, 5, minimum=15).state(won).pairs == 15
    assert SequentialTest("margin", 0, 5).state(won[:9]).verdict is None


def test_a_test_of_no_pairs_goes_on() -> None:
    for kind in ("elo", "margin"):
        state = SequentialTest(kind, 0, 5).state([])  # type: ignore[arg-type]
        assert (state.pairs, state.llr, state.verdict) == (0, 0, None)


def test_pairs_count_up_to_the_first_that_is_missing() -> None:
    assert leading({0: 1.0, 1: None, 2: 2.0, 4: 5.0}) == [1, 2]
    run = SprtRun(SequentialTest("margin", 0, 5))
    for deck, margin in ((4, 5.0), (2, 2.0), (1, None), (0, 1.0)):
        run.update(deck, margin)
    assert run.state.pairs == 2


def test_the_last_llr_is_that_of_all_counts() -> None:
    points = [2, 1, 1.5, 0, 0.5, 1, 2]
    path = SequentialTest("elo", 0, 30).path(points)
    assert path[-1] == pytest.approx(float(elo_llr(count_pairs(points), 0, 30)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "wins"}, "found kind 'wins', expected elo or margin"),
        ({"low": 5}, "found 5 and 5, expected low < high"),
        ({"alpha": 0}, "found alpha 0 and beta 0.05, expected both above 0"),
        ({"alpha": 0.6, "beta": 0.4}, "together below 1"),
        ({"minimum": 1}, "found a minimum of 1 pairs, expected 2 or more"),
    ],
)
def test_what_cannot_be_tested_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SequentialTest(**{"kind": "elo", "low": 0, "high": 5, **changes})  # type: ignore[arg-type]


def test_points_that_no_pair_can_have_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found a pair of 1\.3 points"):
        SequentialTest("elo", 0, 5).state([1, 1.3])
