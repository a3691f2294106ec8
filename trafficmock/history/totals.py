"""Counts since the start of the service, which no limit of the history touches."""

from attrs import Factory, define


@define(eq=False)
class Totals:
    """Counts of requests, or of WebSockets.

    :ivar seen: how many there were.
    :ivar decisions: how many of them were decided, by the action. A redirect counts for each hop.
    """

    seen: int = 0
    decisions: dict[str, int] = Factory(dict)

    def decided(self, action: str) -> None:
        """Count a decision."""
        self.decisions[action] = self.decisions.get(action, 0) + 1
