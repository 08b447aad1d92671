"""What a long work is given by whoever starts it: threads, progress, and whether to stop."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from carc.learn.cluster import Cluster
from carc.learn.kinds import Learner, TrainingJob, Watch
from carc.learn.stopping import StoppedError

Step: TypeAlias = Callable[[], object]
# progress(total, done, what) gives a function to call after each step.
Progress: TypeAlias = Callable[[int, int, str], AbstractContextManager[Step]]


def _no_progress(total: int, done: int, what: str) -> AbstractContextManager[Step]:
    return nullcontext(lambda: None)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a run is given by whoever starts it; nothing of it changes the networks.

    threads: of self-play and gates. cluster: a Ray cluster for the self-play.
    note: takes a line about each stage. stopped: asked often; True ends the run with StoppedError.
    """

    threads: int = 1
    cluster: Cluster | None = None
    progress: Progress = _no_progress
    note: Callable[[str], object] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


class _Bars:
    """One progress after the other, since only one can be shown at a time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stack = ExitStack()
        self.step: Step = lambda: None

    def __enter__(self) -> "_Bars":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self, total: int, done: int, what: str) -> None:
        """End the last progress and begin another, whose step is `step`."""
        self._stack.close()
        self.step = self._stack.enter_context(self._progress(total, done, what))


def train_watched(
    taught: Learner,
    job: TrainingJob,
    around: Surroundings,
    name: str,
    on_pass: Callable[[dict[str, Any]], object],
) -> dict[str, Any]:
    """Train with progress, first over the files, then over the steps; returns the metrics."""
    with _Bars(around.progress) as bars:
        bars.begin(len(job.shards), 0, f"{name}reading games")
        is_training = False

        def on_step(done: int, total: int, loss: float) -> None:
            nonlocal is_training
            if not is_training:
                is_training = True
                bars.begin(total, done - 1, f"{name}training")
            bars.step()

        def on_file() -> None:
            bars.step()
            if around.stopped():
                raise StoppedError

        return taught.train(
            job,
            Watch(
                on_file=on_file,
                on_step=on_step,
                on_pass=on_pass,
                stopped=around.stopped,
            ),
        )
