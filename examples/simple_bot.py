"""A complete bot for ``carc``: it lays tiles at random and takes the dearest feature.

Try it: carc bot-check python3 examples/simple_bot.py
        carc match "guest:command=python3 examples/simple_bot.py" random
"""

import json
import random
import sys

DEAREST_FIRST = ("monastery", "city", "abbot", "road")


def choose(request):
    """Return one of the legal moves, which are texts such as D@0,-1r2 and city:N."""
    legal = request["legal"]
    chance = random.Random(request["seed"])  # the same question gets the same answer
    if request["phase"] == "place":
        return chance.choice(legal)
    for kind in DEAREST_FIRST:
        for move in legal:
            if move.startswith(kind):
                return move
    return "-"  # no figure


def main():
    """Answer every line with a line until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        if request["action"] == "hello":
            answer |= {"protocol": 1, "name": "dearest", "version": "1.0"}
        else:
            answer["move"] = choose(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
