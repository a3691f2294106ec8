"""The part of strict mode that is kept for the next process on the same port."""

from attrs import field, frozen


@frozen
class KeptTest:
    """A strict test that runs.

    :param context: that its traffic carries.
    :param allow: the patterns.
    """

    context: str = field(repr=False)
    test_id: str
    title: str
    file: str
    allow: tuple[str, ...]


@frozen
class KeptStrictness:
    """Who is strict by the messages of workers.

    :param runs: the patterns of each strict run.
    :param tests: the strict tests, where no run is strict.
    """

    runs: tuple[tuple[str, ...], ...] = ()
    tests: tuple[KeptTest, ...] = ()
