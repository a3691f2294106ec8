"""An application that reads one large answer slowly.

It prints the most memory that it had, in bytes, at a tenth and at the end. Arguments: the URL, the
number of MiB, and the milliseconds that it pauses after each.
"""

import resource
import sys
import time
from urllib.request import urlopen

MIB = 2**20
KIB = 1024


def main(url: str, pieces: int, pause: float) -> None:
    """Read the answer.

    :raises RuntimeError: it has another length.
    """
    read = 0
    with urlopen(url, timeout=60) as answer:  # noqa: S310 - the URL is that of the benchmark
        while content := answer.read(MIB):
            if read < pieces // 10 * MIB <= read + len(content):
                print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB, flush=True)
            read += len(content)
            time.sleep(pause / 1000)
    if read != pieces * MIB:
        raise RuntimeError(f"{read} bytes")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB, flush=True)


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
