"""Which positions of a game are kept, and what they teach."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """Options of rebuilding positions from games.

    keep, keep_explored: probability that a position is kept, and that after a turn that explored.
    blend: lambda of TD(lambda): 1 teaches the end of the game, 0 the value of the next turn.
    bag_average: teach the value of `network` after the draw, averaged over the tiles left.
    network: path of the network that gives values; the hand-made evaluation if empty.
    """

    keep: float = 0.3
    keep_explored: float = 0.7
    blend: float = 1.0
    bag_average: bool = False
    network: str = ""
