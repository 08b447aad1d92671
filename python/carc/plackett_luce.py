"""Strengths from rankings with ties: the Davidson-Luce model, by maximum likelihood.

A ranking is a sequence of choices: the best of all, the best of the rest, and so on (Plackett, "The
analysis of permutations", 1975; Luce, "Individual choice behavior", 1959). From a set A of agents
with worths a_i the group C, of agents who tie, is chosen with probability f(C) / sum f(S) over the
subsets S of A, where

    f(S) = delta_k (product of a_i over S)^(1/k),   k = |S|,   delta_1 = 1

(Turner, van Etten, Firth and Kosmidis, "Modelling rankings in R: the PlackettLuce package",
Computational Statistics 35, 2020, equation 2; for two agents Davidson, "On extending the
Bradley-Terry model to accommodate ties", 1970). delta_k says how frequent ties of k are; orders
that never occurred have delta 0. Rao and Kupper's threshold has no such extension to rankings.

The model has sufficient statistics, and they are all that is kept of the games: how often each
agent was chosen (1/k in a tie of k), how often k tied, and how often a choice was made from each
set. They are sums over the games, so that the order of the games cannot matter. The log likelihood

    sum_i wins_i ln a_i + sum_k ties_k ln delta_k - sum_A chosen_A ln sum_S f(S)

is concave in ln a and ln delta. Where all games are of two, a tie is half a win for each instead,
which makes the model Bradley and Terry's, and differences of ln a the logistic Elo of the score.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

GRADIENT = 1e-3  # at which a refit ends; so many standard errors from the summit

Ranking: TypeAlias = Sequence[Sequence[int]]  # groups of agents who tie, from the best down


@dataclass(frozen=True)
class Choices:
    """The choices of a set of rankings, by deck, which is all that the likelihood needs of them.

    wins: [deck, agent], how often the agent was chosen, 1/k in a tie of k.
    ties: [deck, k - 2], how often k agents tied.
    sets: the sets of agents from which choices were made, ascending.
    chosen: [deck, set], how many choices were made from it.
    """

    wins: Array
    ties: Array
    sets: tuple[tuple[int, ...], ...]
    chosen: Array

    def with_imagined(self, comparisons: Mapping[tuple[int, int], float]) -> "Choices":
        """Return the choices with two more rows for each pair: either won half of them.

        comparisons: how often every two agents, i < j, are imagined to have been compared.
        """
        sets = sorted({*self.sets, *comparisons})
        column = {each: index for index, each in enumerate(sets)}
        seen = np.zeros((len(self.wins), len(sets)))
        seen[:, [column[each] for each in self.sets]] = self.chosen
        wins = np.zeros((2 * len(comparisons), self.wins.shape[1]))
        chosen = np.zeros((2 * len(comparisons), len(sets)))
        for index, (pair, count) in enumerate(comparisons.items()):
            for row, winner in zip((2 * index, 2 * index + 1), pair, strict=True):
                wins[row, winner] = chosen[row, column[pair]] = count / 2
        ties = np.zeros((len(wins), self.ties.shape[1]))
        return Choices(
            np.vstack([self.wins, wins]),
            np.vstack([self.ties, ties]),
            tuple(sets),
            np.vstack([seen, chosen]),
        )


def count_choices(rankings: Sequence[tuple[int, Ranking]], agents: int) -> Choices:
    """Count the choices of (deck, ranking); decks in ascending order."""
    rows = {deck: row for row, deck in enumerate(sorted({deck for deck, _ in rankings}))}
    sizes = {sum(map(len, ranking)) for _, ranking in rankings}
    wins = np.zeros((len(rows), agents))
    ties = np.zeros((len(rows), max(sizes) - 1))
    made: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for deck, ranking in rankings:
        row = rows[deck]
        left = {agent for group in ranking for agent in group}
        for group in ranking:
            if len(left) > 1:
                made[row, tuple(sorted(left))] += 1
                for agent in group:
                    wins[row, agent] += 1 / len(group)
                if len(group) > 1 and sizes != {2}:
                    ties[row, len(group) - 2] += 1
            left.difference_update(group)
    sets = sorted({each for _, each in made})
    columns = {each: column for column, each in enumerate(sets)}
    chosen = np.zeros((len(rows), len(sets)))
    for (row, each), count in made.items():
        chosen[row, columns[each]] = count
    return Choices(wins, ties, tuple(sets), chosen)


class Likelihood:
    """The likelihood of strengths, given choices that join all agents.

    Strengths are [agent + order]: ln a of every agent, then ln delta of the orders of ties that
    occurred. The mean of the agents' is 0.
    """

    def __init__(self, choices: Choices) -> None:
        self._agents = choices.wins.shape[1]
        orders = [k for k, ties in enumerate(choices.ties.T, 2) if ties.any()]
        self._statistics = np.hstack([choices.wins, choices.ties[:, [k - 2 for k in orders]]])
        self._chosen = choices.chosen
        groups = [
            [group for k in (1, *orders) for group in combinations(each, k)]
            for each in choices.sets
        ]
        rows = {group: row for row, group in enumerate(sorted(set(chain(*groups))))}
        self._features = np.zeros((len(rows), self._statistics.shape[1]))
        for group, row in rows.items():
            self._features[row, list(group)] = 1 / len(group)
            if len(group) > 1:
                self._features[row, self._agents + orders.index(len(group))] = 1
        self._of_set = np.zeros((len(groups), len(rows)))
        for index, each in enumerate(groups):
            self._of_set[index, [rows[group] for group in each]] = 1

    def fit(self) -> Array:
        """Return the likeliest strengths."""
        from scipy.optimize import minimize

        statistics, chosen = self._statistics.sum(axis=0), self._chosen.sum(axis=0)

        def loss(strengths: Array) -> tuple[float, Array]:
            value, slope = self._loss(strengths[None], statistics[None], chosen[None])
            return value, slope[0]

        found = minimize(
            loss,
            np.zeros(len(statistics)),
            jac=True,
            hess=lambda strengths: self._curvature(strengths, chosen),
            method="trust-exact",
            options={"gtol": 1e-9 * chosen.sum()},
        )
        return self._centred(np.asarray(found.x, dtype=float))

    def refit(self, weights: Array, likely: Array) -> Array:
        """Return the likeliest strengths [replicate, agent + order] with other weights of the rows.

        All replicates are sought in one minimisation, in coordinates whose unit is a standard
        error, from where one step by the curvature at `likely` leads.

        weights: [replicate, row], not negative.
        likely: the strengths with weights of 1, from `fit`.
        """
        from scipy.linalg import solve_triangular
        from scipy.optimize import minimize

        statistics, chosen = weights @ self._statistics, weights @ self._chosen
        if len(likely) == 2:
            half_gaps = np.log(statistics[:, 0] / statistics[:, 1]) / 2
            return np.stack([half_gaps, -half_gaps], axis=1)
        root = np.linalg.cholesky(self._curvature(likely, self._chosen.sum(axis=0)))
        unit = solve_triangular(root, np.eye(len(likely)), lower=True)

        def loss(flat: Array) -> tuple[float, Array]:
            strengths = likely + flat.reshape(statistics.shape) @ unit
            value, slope = self._loss(strengths, statistics, chosen)
            return value, (slope @ unit.T).ravel()

        start = np.zeros_like(statistics)
        frequencies = statistics / self._statistics.sum(axis=0)
        start[:, self._agents :] = np.log(frequencies[:, self._agents :])  # of ties, which are rare
        offsets = (start @ root).ravel()
        offsets -= loss(offsets)[1]
        found = minimize(
            loss,
            offsets,
            jac=True,
            method="L-BFGS-B",
            options={"gtol": GRADIENT, "ftol": 0, "maxiter": 1000, "maxfun": 2000},
        )
        steps: Array = np.reshape(found.x, statistics.shape)
        return self._centred(likely + steps @ unit)

    def _loss(self, strengths: Array, statistics: Array, chosen: Array) -> tuple[float, Array]:
        """Return minus the log likelihood, summed over data sets, and its slope for each.

        The square of the sum of the agents' strengths is added to pin their mean to 0.
        """
        values = strengths @ self._features.T
        top = values.max(axis=1, keepdims=True)
        weights = np.exp(values - top)
        totals = weights @ self._of_set.T
        mean = strengths[:, : self._agents].sum(axis=1, keepdims=True)
        loss = np.sum(chosen * (np.log(totals) + top)) - np.sum(statistics * strengths)
        slope = (weights * ((chosen / totals) @ self._of_set)) @ self._features - statistics
        slope[:, : self._agents] += mean
        return float(loss + np.sum(mean**2) / 2), slope

    def _curvature(self, strengths: Array, chosen: Array) -> Array:
        """Return the second derivatives of the loss of one data set."""
        values = self._features @ strengths
        weights = np.exp(values - values.max())
        shares = self._of_set * weights
        shares /= shares.sum(axis=1, keepdims=True)
        means = shares @ self._features
        by_group = chosen @ shares
        curve: Array = (self._features.T * by_group) @ self._features
        curve -= (means.T * chosen) @ means
        curve[: self._agents, : self._agents] += 1
        return curve

    def _centred(self, strengths: Array) -> Array:
        agents = strengths[..., : self._agents]
        centred = strengths.copy()
        centred[..., : self._agents] = agents - agents.mean(axis=-1, keepdims=True)
        return centred
