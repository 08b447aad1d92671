"""How a network is trained: options that need no torch to be read."""

from dataclasses import dataclass

CHECKPOINT = "checkpoint.npz"  # name of the file in a training's folder
SCHEDULES = ("constant", "cosine", "one-cycle")


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How a network is trained.

    dense_passes, joint_passes: passes over the examples with the dense loss, and with the joint
        one. A loss of the user's has as many as both together.
    joint_weight: of the margin's squared error, added to the dense loss.
    learning_rate, weight_decay: of AdamW.
    schedule: of the learning rate over each of the two phases, one of `SCHEDULES`.
    average: decay by step of the running mean of the weights that is the result; 0: none.
    batch: positions a step. block: positions that follow each other in the games, of which batches
        are put together; they share games, a block at a time.
    threads: of torch. The weights are the same bit for bit with 1 only.
    """

    dense_passes: int = 2
    joint_passes: int = 3
    joint_weight: float = 1.0
    learning_rate: float = 3e-3
    weight_decay: float = 0.01
    schedule: str = "cosine"
    average: float = 0.0
    batch: int = 1024
    block: int = 64
    threads: int = 1
