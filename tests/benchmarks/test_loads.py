"""Tests for :mod:`benchmarks.generator.loads`."""

import base64

from twisted.trial.unittest import SynchronousTestCase

from benchmarks.generator.loads import LOADS, SHAPES, Load, body


class LoadTests(SynchronousTestCase):
    """Agent and workers agree on who is meant, from the request's number alone."""

    def test_every_route_is_hit_once(self) -> None:
        """As many requests as there are routes hit each route of each worker once."""
        load = Load("x", "x", workers=8, tests=4, routes=5)
        asked = [load.route_of(number) for number in range(8 * 4 * 5)]
        registered = [place for worker in range(8) for place in load.routes_of(worker)]
        self.assertEqual(len(set(asked)), 160)
        self.assertEqual(set(asked), set(registered))

    def test_no_workers(self) -> None:
        """Without workers requests still have URLs, and pass through."""
        load = Load("x", "x", workers=0)
        self.assertIn("http://", load.url(load.route_of(7)))
        self.assertFalse(load.fulfilled)

    def test_misses_have_other_urls(self) -> None:
        """A request that is meant to miss goes to the routes' host, but to another path."""
        hit, miss = (Load("x", "x", hits=hits) for hits in (True, False))
        place = hit.route_of(0)
        self.assertNotIn(place.path, miss.url(place))
        self.assertEqual(hit.url(place).split("/")[2], miss.url(place).split("/")[2])

    def test_shapes_give_each_route_its_own_matcher(self) -> None:
        """Two routes never share a matcher, or every request would be ambiguous."""
        load = Load("x", "x", workers=2, tests=2, routes=3)
        routes = [place for worker in range(2) for place in load.routes_of(worker)]
        for name in SHAPES.keys() - {"foreign-predicate"}:
            matchers = {repr(SHAPES[name].matcher(place)) for place in routes}
            self.assertEqual(len(matchers), len(routes), name)

    def test_names(self) -> None:
        """Loads are told apart by name."""
        self.assertEqual(len({load.name for load in LOADS}), len(LOADS))

    def test_body_length(self) -> None:
        """A body has the length asked for, decoded."""
        self.assertEqual(len(base64.b64decode(body(1000))), 1000)
