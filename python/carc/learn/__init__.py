"""Learning: networks, self-play, training and gates. Needs the extra ``carc[train]``.

The modules, each using those before it: `encoder` (what a network looks at), `games` (self-play in
Parquet), `batch`, `network`, `losses`, `examples`, `fit`; `gate`, `config`, `run` (the loop).
Nothing here is imported by the rest of carc, whose agents play trained networks without torch.
"""
