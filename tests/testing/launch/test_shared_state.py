"""The files by which the workers of a run find what one of them has started."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.launch import Proxy, lease, shared_proxy

CUT = 8


class SharedStateTests(SynchronousTestCase):
    """A worker may be ended at any time."""

    def test_interrupted(self) -> None:
        """A worker that is ended while it writes leaves nothing that the next one cannot read."""
        base = Path(self.mktemp())
        base.mkdir()
        factory = SimpleNamespace(getbasetemp=lambda: base)
        config: Any = SimpleNamespace(_tmp_path_factory=factory)
        self.patch(shared_proxy, "start_proxy", lambda *_, **__: Proxy("http://p", pid=1))
        self.patch(lease, "hold", lambda _: None)
        self.patch(shared_proxy, "listens", lambda _: True)

        def cut(path: Path, content: Any, *_: Any, **__: Any) -> int:
            data = content if isinstance(content, bytes) else content.encode()
            with path.open("wb") as file:
                file.write(data[:CUT])
            raise KeyboardInterrupt

        interrupted = self.patch(Path, "write_bytes", cut)
        texts = self.patch(Path, "write_text", cut)
        self.assertRaises(KeyboardInterrupt, shared_proxy.get, config, None)
        interrupted.restore()
        texts.restore()
        self.assertEqual(shared_proxy.get(config, None).url, "http://p")
        # It is there for the third.
        self.assertEqual(shared_proxy.get(config, None).pid, 1)
