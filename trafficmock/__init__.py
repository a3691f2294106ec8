"""A local service that lets the tests decide what an application's server receives.

Five nouns and who calls whom:

* a **message** (:mod:`trafficmock.wire`) is what crosses the coordinator WebSocket;
* the **coordinator** (:mod:`trafficmock.core`) takes messages in and returns
  effects: it decides, and does no I/O;
* the **matcher** (:mod:`trafficmock.matching`) says yes, no or undecidable about
  a route and a URL;
* the **history** (:mod:`trafficmock.history`) remembers what happened;
* the **driver** (:mod:`trafficmock.server`) performs the effects; its package has the
  sockets, REST, clocks and limits.

:mod:`trafficmock.tap` builds all of it.
"""

__version__ = "0.1.0"
