"""One wake-up for all deadlines."""

from math import inf

from attrs import define

from trafficmock.core.effects import Effects, Wake


@define
class Alarm:
    """Remembers the wake-up that is outstanding, so that only an earlier one is asked for."""

    at: float = inf

    def need(self, at: float, out: Effects) -> None:
        """Ask to be woken at ``at`` unless that, or something earlier, is already asked for."""
        if at < self.at:
            self.at = at
            out.append(Wake(at))

    def rang(self) -> None:
        """Note that the wake-up happened."""
        self.at = inf
