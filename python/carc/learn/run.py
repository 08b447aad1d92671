"""The loop: self-play -> training -> gate -> next round, in one folder, from which it goes on.

A stage's result is kept when it has ended; within a stage its games or its training's checkpoint
are. Whatever stopped the run, the same call goes on, and with the same configuration the networks
are the same, bit for bit where the training has one thread.
"""

from pathlib import Path
from time import monotonic
from typing import Any

from carc._core import split_seed
from carc._version import __version__
from carc.learn.config import TrainingConfig
from carc.learn.gate import play_gate
from carc.learn.kinds import Learner, TrainingJob, learner
from carc.learn.run_folder import RunFolder
from carc.learn.run_log import RunLog
from carc.learn.selfplay import Series, Shard, play_missing, shards_of, split_games
from carc.learn.settings import CHECKPOINT
from carc.learn.surroundings import Surroundings, train_watched

# Streams of a round's seed beside those of its self-play, which have the numbers of the rules.
GATE_STREAM, FIT_STREAM = 2**32, 2**32 + 1


def train(
    config: TrainingConfig, folder: Path, around: Surroundings | None = None
) -> dict[str, Any]:
    """Run all rounds that are missing in a run folder; returns what the rounds came to.

    Raises StoppedError when it was asked to stop, TrainingError for numbers that are not finite.
    """
    around = around or Surroundings()
    with RunFolder(folder, config) as run:
        log = RunLog(run.path, run.metrics)
        try:
            for number in range(len(config.rounds)):
                _Round(config, run, log, around, number).finish()
        finally:
            log.close()
        last = run.rounds[len(config.rounds) - 1]["champion"]
        return {
            "run": str(run.path),
            "rounds": run.rounds[: len(config.rounds)],
            "champion": str(run.path / last) if last else None,
        }


class _Round:
    """One round: three stages, each of which is skipped where its result is there."""

    def __init__(
        self,
        config: TrainingConfig,
        run: RunFolder,
        log: RunLog,
        around: Surroundings,
        number: int,
    ) -> None:
        self.config, self.run, self.log, self.around, self.number = config, run, log, around, number
        self.settings = config.rounds[number]
        self.learner: Learner = learner(config.kind)
        if len(run.rounds) == number:
            run.rounds.append({"round": number})
        self.done = run.rounds[number]
        self.champion = run.champion_before(number)
        self.candidate = run.networks / f"round-{number:03d}.safetensors"

    def finish(self) -> None:
        if "champion" in self.done:
            return
        if "fit" not in self.done:
            self._play()
            self._fit()
        self._gate()

    def _play(self) -> None:
        """Play what is missing of all games that this round learns from."""
        began = monotonic()
        shards = [shard for number in self._window() for shard in self._shards(number)]
        total = sum(shard.games for shard in shards)
        there = sum(shard.games for shard in shards if shard.path.exists())
        with self.around.progress(total, there, f"round {self.number}: games") as step:

            def on_shard(shard: Shard) -> None:
                for _ in range(shard.games):
                    step()

            played = play_missing(
                shards,
                threads=self.around.threads,
                cluster=self.around.cluster,
                on_shard=on_shard,
                stopped=self.around.stopped,
            )
        if "selfplay" not in self.done:
            own = sum(shard.games for shard in self._shards(self.number))
            seconds = monotonic() - began
            self._keep("selfplay", {"games": own, "played": played, "seconds": seconds})

    def _fit(self) -> None:
        began = monotonic()
        config = self.config
        shards = [shard.path for number in self._window() for shard in self._shards(number)]
        folder = self.run.part("fit", self.number)
        job = TrainingJob(
            shards=shards,
            out=self.candidate,
            start=self.champion if self.settings.start == "champion" else None,
            player=self.champion,
            network=config.network,
            labels=config.labels,
            fit=config.fit,
            seed=self._seed(FIT_STREAM),
            threads=self.around.threads,
            folder=folder,
            metadata={"carc": __version__, "round": str(self.number), "seed": str(config.seed)},
        )

        def on_pass(passed: dict[str, Any]) -> None:
            self.log.show({"round": self.number, "stage": "pass", **passed})

        name = f"round {self.number}: "
        metrics = train_watched(self.learner, job, self.around, name, on_pass)
        passes = metrics.pop("passes")
        seconds = monotonic() - began
        kept = {**metrics, **(passes[-1] if passes else {}), "seconds": seconds}
        lines = [{"round": self.number, "stage": "pass", **each} for each in passes]
        self._keep("fit", kept, lines)
        (folder / CHECKPOINT).unlink(missing_ok=True)
        explained = kept.get("explained")
        if isinstance(explained, float):
            self.around.note(f"Round {self.number}: explains {100 * explained:.1f} % held out")

    def _gate(self) -> None:
        began = monotonic()
        options = self.config.gate
        opponent = self.learner.agent(self.champion) if self.champion else options.against
        games = options.pairs * options.rules.players
        with self.around.progress(games, 0, f"round {self.number}: gate") as step:
            result = play_gate(
                self.learner.agent(self.candidate),
                opponent,
                options,
                seed=self._seed(GATE_STREAM),
                folder=self.run.path / "gates",
                name=f"round-{self.number:03d}",
                threads=self.around.threads,
                on_game=step,
                stopped=self.around.stopped,
            )
        if result.accepted:
            self.run.crown(self.candidate)
        champion = self.candidate if result.accepted else self.champion
        self.done["champion"] = str(champion.relative_to(self.run.path)) if champion else None
        self._keep("gate", {**result.to_dict(), "seconds": monotonic() - began})
        verdict = "accepted" if result.accepted else "rejected"
        self.around.note(f"Round {self.number}: {verdict}, {result.reason}")

    def _keep(
        self, stage: str, result: dict[str, Any], lines: list[dict[str, Any]] | None = None
    ) -> None:
        """Keep a stage's result, which thereby has ended, with its metrics."""
        line = {"round": self.number, "stage": stage, **result}
        self.done[stage] = result
        self.run.metrics = self.log.keep([*(lines or []), line])
        self.run.save()

    def _window(self) -> range:
        """Return the rounds whose games this one learns from."""
        return range(max(0, self.number + 1 - self.settings.window), self.number + 1)

    def _shards(self, number: int) -> list[Shard]:
        """Return the shards of a round, by rules."""
        settings = self.config.rounds[number]
        counts = split_games(settings.games, [each.share for each in settings.rules])
        series = [
            Series(
                folder=self.run.part("games", number),
                name=f"rules-{index}",
                kind=self.config.kind,
                rules=each.rules,
                options=settings.options,
                network=self.run.champion_before(number),
                seed=split_seed(split_seed(self.config.seed, number), index),
                games=games,
                shard=self.config.shard,
            )
            for index, (each, games) in enumerate(zip(settings.rules, counts, strict=True))
        ]
        return shards_of(series)

    def _seed(self, stream: int) -> int:
        return split_seed(split_seed(self.config.seed, self.number), stream)
