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

:mod:`trafficmock.tap` builds all of it. Applications send their traffic by an agent, or through the
forward proxy (:mod:`trafficmock.proxy`, with :mod:`trafficmock.certificates` for ``https``);
:mod:`trafficmock.attach` makes the environment variables for that. :mod:`trafficmock.testing` is
what tests import, :mod:`trafficmock.dashboard` the pages, and :mod:`trafficmock.cli` the console
script, with one module of :mod:`trafficmock.command` for each command.

Several of these use :mod:`trafficmock.http` (access, answers, limits), ``records`` (what happened,
for the core and the history), ``errors``, ``redaction`` (secrets taken out of texts), ``coercers``
(values of options) and ``ipv6`` (addresses where people write hosts).
"""

__version__ = "0.1.0"
