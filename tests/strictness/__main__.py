"""``python -m tests.strictness [ATTACK …] [--rounds N] [--local on|off]`` prints what left."""

import argparse
import collections
import sys
import tempfile
import time
from pathlib import Path

from tests.strictness.attacks import ATTACKS
from tests.strictness.lab import Lab, chance

parser = argparse.ArgumentParser()
parser.add_argument("attacks", nargs="*", default=list(ATTACKS))
parser.add_argument("--rounds", type=int, default=10)
parser.add_argument("--local", choices=("on", "off"), default="on")
parser.add_argument("--seed", type=int, default=time.time_ns())
options = parser.parse_args()
chance.seed(options.seed)
for name in options.attacks:
    with (
        tempfile.TemporaryDirectory() as folder,
        Lab(Path(folder), local=options.local == "on") as lab,
    ):
        result = ATTACKS[name](lab, options.rounds)
        kinds = collections.Counter(each.kind for each in result.leaked)
        said = f"{name}: {result.rounds} rounds, {lab.asked()} requests, leaked {dict(kinds)}\n"
        sys.stdout.write(said)
        sys.stdout.flush()
        lab.until_kinds({"plain"})
