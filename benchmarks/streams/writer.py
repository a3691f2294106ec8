"""A test that writes one large answer, and then prints the most memory that it had.

Arguments: the URL of the proxy, that of the request, and the number of pieces of 1 MiB.
"""

import resource
import sys

from trafficmock.testing import sync

PIECE = bytes(2**20)
KIB = 1024


def main(proxy: str, url: str, pieces: int) -> None:
    """Print ``ready``, and the peak of the memory at a tenth and at the end, in bytes."""
    with sync.mocks(proxy) as mocks:
        stream = mocks.stream(url, content_type="application/octet-stream")
        print("ready", flush=True)
        for number in range(pieces):
            if number == pieces // 10:
                print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB, flush=True)
            stream.send(PIECE)
        stream.end()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB, flush=True)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
