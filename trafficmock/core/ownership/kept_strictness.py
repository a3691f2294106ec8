"""The state of strict mode that is stored for the next process on the same port."""

from attrs import field, frozen


@frozen
class KeptTest:
    """A strict test that runs or ended last.

    :param context: the context of its requests.
    :param allow: the patterns of its allow list.
    """

    context: str = field(repr=False)
    test_id: str
    title: str
    file: str
    allow: tuple[str, ...]


@frozen
class KeptStrictness:
    """The strict runs and tests of a service that is not strict itself.

    :param runs: the patterns of each strict run.
    :param tests: the strict tests; empty if there is a strict run.
    """

    runs: tuple[tuple[str, ...], ...] = ()
    tests: tuple[KeptTest, ...] = ()
