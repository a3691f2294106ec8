"""Which processes are attached."""

from trafficmock_preload.attached_process import is_service
from twisted.trial.unittest import SynchronousTestCase


class ServiceTests(SynchronousTestCase):
    """The proxy must not be its own client."""

    def test_own(self) -> None:
        """What starts trafficmock is known by its command line."""
        for words in (
            ["python", "-m", "trafficmock", "serve"],
            ["python", "-X", "dev", "-m", "trafficmock.testing.launch.leased_proxy"],
            ["python", "/venv/bin/trafficmock", "serve"],
            ["python", "/venv/bin/twistd", "-n", "trafficmock"],
        ):
            self.assertTrue(is_service(words), words)

    def test_others(self) -> None:
        """Applications are not, whatever their arguments are."""
        for words in (
            ["python"],
            ["python", "-c", "pass", "trafficmock"],
            ["python", "app.py", "trafficmock"],
            ["python", "-m", "flask", "run"],
            ["python", "-m"],
            ["python", "/venv/bin/twistd", "web"],
            ["python", "trafficmock_shop.py"],
        ):
            self.assertFalse(is_service(words), words)
