"""A local service with which tests mock the HTTP requests and WebSockets of an application.

Five parts, and what each does:

* a **message** (:mod:`trafficmock.wire`) is one JSON object on the coordinator WebSocket (``/ws``),
  which connects agents and test workers with the service;
* the **coordinator** (:mod:`trafficmock.core`) takes messages and returns
  effects: it decides about requests, and does no I/O;
* the **matcher** (:mod:`trafficmock.matching`) compares a route with a URL: the result is yes, no
  or undecidable;
* the **history** (:mod:`trafficmock.history`) keeps the latest requests and WebSockets;
* the **driver** (:mod:`trafficmock.server`) performs the effects; its package has the
  sockets, REST, clocks and limits.

:mod:`trafficmock.tap` builds the service. Applications send their traffic by an agent (code inside
the application that asks the coordinator), or through the forward proxy (:mod:`trafficmock.proxy`,
with :mod:`trafficmock.certificates` for ``https``);
:mod:`trafficmock.attach` makes the environment variables that attach an application.
:mod:`trafficmock.testing` is the Python test library, :mod:`trafficmock.dashboard` the web pages
that show the history (:mod:`trafficmock.report` keeps them for a test run),
:mod:`trafficmock.telemetry` the export to OpenTelemetry, and :mod:`trafficmock.cli` the console
script, with one module of :mod:`trafficmock.command` for each command.

Several packages use :mod:`trafficmock.http` (access rules, responses, limits), ``records`` (events
that the core emits and the history keeps), ``errors``, ``texts`` (texts for messages and logs),
``redaction`` (secrets removed from texts), ``coercers`` (values of options),
``connection_errors`` (why a connection failed), ``whole_files`` (files of which readers never find
a part) and ``file_locks``.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def attach_self(*args: Any, **kwargs: Any) -> Any:
    """Attach this process, for applications that tests call in it, without a server.

    Arguments and result are those of :func:`trafficmock.testing.self_attachment.attach_self`, which
    is imported here, because few programs of this package need it.
    """
    return import_module("trafficmock.testing.self_attachment").attach_self(*args, **kwargs)
