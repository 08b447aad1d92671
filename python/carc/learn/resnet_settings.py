"""How the network `resnet` is made, trained and played: options that need no torch to be read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ResnetShape:
    """The size of a network."""

    channels: int = 32
    blocks: int = 4


@dataclass(frozen=True, kw_only=True)
class ResnetLabels:
    """Which positions teach, and what.

    keep: share of the positions without policy. keep_policy: of those with one.
    search_share: part of the points that the search foresaw in the value's target, the rest is the
        end of the game.
    """

    keep: float = 0.1
    keep_policy: float = 1.0
    search_share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ResnetFitOptions:
    """How a network is trained.

    passes: over the examples. batch: positions a step.
    learning_rate, weight_decay: of AdamW; the rate falls to zero along a cosine.
    value_weight: of the squared error of values, in units of 10 points.
    lead_weight: of the cross-entropy of the final lead.
    cells_weight: of the squared error of tiles' points, summed over the board.
    policy_weight: of the cross-entropy of policies.
    threads: of torch. The weights are the same bit for bit with 1 only.
    """

    passes: int = 2
    batch: int = 128
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    value_weight: float = 1.0
    lead_weight: float = 0.2
    cells_weight: float = 0.1
    policy_weight: float = 1.0
    threads: int = 1


@dataclass(frozen=True, kw_only=True)
class ResnetSelfPlayOptions:
    """How games are played; see `carc._core.resnet_self_play`.

    simulations, fast_simulations: of a decision, in turns whose policies teach and in others.
    full_rate: share of the former. root_noise, root_noise_alpha: in those turns.
    temperature: decisions are drawn by visits^(1 / temperature).
    lanes: games played at the same time, which share batches.
    """

    simulations: int = 64
    fast_simulations: int = 16
    full_rate: float = 0.25
    root_noise: float = 0.25
    root_noise_alpha: float = 0.3
    temperature: float = 0.5
    lanes: int = 32
