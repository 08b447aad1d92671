"""Learning: networks, self-play, training and gates. Needs the extra ``carc[train]``.

`run.train` runs the whole loop; `selfplay`, `fit` and `gate` are its parts. Modules, each using
those before it: `encoder` (what a network looks at), `games` (self-play in Parquet), `batch`,
`network`, `losses`, `examples`, `fit`, `kinds`, `selfplay`, `gate`, `config`, `run`. Only modules
that train import torch, and nothing here is imported by the rest of carc, whose agents play
trained networks without it.
"""
