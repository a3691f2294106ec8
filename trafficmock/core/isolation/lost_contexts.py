"""Says where a request lost the context of its test, and what to do.

A request without a context may belong to any test. The agents tell where such a request was sent
from (:class:`.RequestOrigin`); the text is written here, once for REST, reports and errors.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from trafficmock.core.state.peers import Agent
from trafficmock.records import LostContext
from trafficmock.texts.message_text import printable
from trafficmock.texts.times import time_of_day
from trafficmock.texts.wording import Wording, url_text
from trafficmock.wire.features import CONTEXT, ORIGINS
from trafficmock.wire.http_syntax import CONTEXT_COOKIE
from trafficmock.wire.payloads.request_origin import InboundRequest, RequestOrigin

_LONGEST = 200
"""The most characters of a name, a place or a path."""

_LATEST = 10**14
"""The end of the times that are shown, in epoch milliseconds: the year 5138."""

_CARRIERS = f"the headers baggage and traceparent, and without the cookie {CONTEXT_COOKIE}"
_HEADERS = f"baggage, the cookie {CONTEXT_COOKIE} or traceparent"
_OF_THE_RUN = (
    'answer it for the whole run: trafficmock_shared(scope="run") in pytest, trafficmockRun in '
    "Playwright"
)

_REMEDIES = {
    "request": (
        "Put trafficmock.headers or trafficmock.cookie on the requests of the test, and let its "
        "browser use trafficmock.proxy. If another service sent it, attach that one too."
    ),
    "expired": (
        "What works on after its request keeps the context for 30 s. Start what lives longer with "
        f"the application, and {_OF_THE_RUN}; or set TRAFFICMOCK_CONTEXT_MS."
    ),
    "loop": (
        "A loop that goes on after its request, or by which a library calls the application, works "
        "for everyone. Let it take jobs from queue.Queue or asyncio.Queue: each has the context of "
        "whoever put it there. In Node, bind each job by AsyncResource.bind where it is handed "
        f"over. If it works for no request, {_OF_THE_RUN}."
    ),
    "woken": (
        "Its own request is over, and it works for others: start such a loop or queue with the "
        f"application, or bind each job by AsyncResource.bind where it is handed over. Else "
        f"{_OF_THE_RUN}."
    ),
    "handed-over": (
        "It may work for other tests, as a queue does after its first job: bind each job by "
        "AsyncResource.bind where it is handed over. If it works for its request alone, send the "
        "request before the promise is settled."
    ),
    "unhooked": (
        "trafficmock does not know this copy of the library, which may start what one test gives "
        "it in the context of another one. So a context counts only while no other one is known "
        "there. Keep the library out of the bundle (external in esbuild and webpack)."
    ),
    "thread": (
        f"It works for no request: {_OF_THE_RUN}. If it works through jobs of requests, hand them "
        "over by concurrent.futures.ThreadPoolExecutor, whose jobs have the context of their "
        "submitter."
    ),
    "pool": (
        "Hand the job over while the request is being handled: the pools that are attached give it "
        f"the context of its submitter. If it works for no request, {_OF_THE_RUN}."
    ),
    "queue": (
        "Attach the process that enqueues the job as well as the worker (trafficmock run): then "
        f"the message carries the context. A job that no request enqueued belongs to no test: "
        f"{_OF_THE_RUN}."
    ),
    "timer": (
        "A timer or a schedule that comes again, or that several requests set, works for no "
        f"request: {_OF_THE_RUN}. If it works for its request alone, bind its callback in Node by "
        "AsyncResource.bind where the request hands it over."
    ),
    "task": (
        "Start the task while the request is being handled: it keeps the context. One that is "
        f"started with the application works for no request: {_OF_THE_RUN}."
    ),
    "batch": (
        "A batch has a context only if all of its items are of one test. Make a batch (a loader) "
        f"for each request, or {_OF_THE_RUN}."
    ),
    "message": (
        "A message of a subscription, a port or another process has no context, whoever sent it. "
        f"Send the request from the code that sends the message, or {_OF_THE_RUN}."
    ),
    "connection": (
        "Events of a connection are of no request: wait for the answer by a promise, or bind the "
        "callback by AsyncResource.bind where it is handed over. At the end of an inbound request "
        f"use the events of the request or the response. Else {_OF_THE_RUN}."
    ),
    "worker": (
        "A worker thread of Node gets no context with its work. Send the request from the main "
        f"thread, or {_OF_THE_RUN}."
    ),
    "receiver": (
        "A message has the context if the process that sends it is attached, too (trafficmock "
        "run). One of SQS has it only if it has place for one more attribute, ten at most, and if "
        "it is handled in a loop over the messages, not by its index. A message that no request "
        f"sent belongs to no test: {_OF_THE_RUN}."
    ),
    "main": f"A script or a loop works for no request: {_OF_THE_RUN}.",
    "code": (
        "Callbacks of queues, pools and sockets run without the context of who asked for them: "
        "bind them by AsyncResource.bind in Node, by contextvars.copy_context().run in Python. If "
        f"it works for no request, {_OF_THE_RUN}."
    ),
    "proxy": (
        f"Forward one of the headers {_HEADERS} from the request that comes in to those that go "
        "out, as OpenTelemetry does; or attach the application (trafficmock run), if it is one of "
        "Node or Python."
    ),
    "unknown": ("Have the request sent again while a test runs: the process then says from where."),
    "agent": "The npm package's agent passes on no contexts: use trafficmock's (trafficmock run).",
}


def explain(agent: Agent, origin: RequestOrigin | UnsetType) -> LostContext | None:
    """Say where a request lost its context.

    :param agent: of its process.
    :param origin: where it was sent from, if the agent tells that.
    :returns: ``None`` if nothing is known about it.
    """
    process = _process(agent)
    if CONTEXT not in agent.features:
        return LostContext(f"It left {process}.", _REMEDIES["agent"])
    if origin is UNSET and agent.kind == "proxy":
        how = f"It left {process} by the forward proxy, with none of {_CARRIERS}."
        return LostContext(how, _REMEDIES["proxy"])
    if origin is UNSET and ORIGINS in agent.features:
        how = (
            f"It left {process}. From where is not known: the process did not know yet that tests "
            "run, or its client library does not say."
        )
        return LostContext(how, _REMEDIES["unknown"])
    if origin is UNSET:
        return None
    remedy = _REMEDIES.get(origin.kind, _REMEDIES["code"])
    return LostContext(Wording(_came_in(origin, process), _left(origin)), remedy)


def left_from(agent: Agent, origin: RequestOrigin | UnsetType) -> Wording:
    """Say what sent a request that has a context, as far as its agent tells that.

    :param agent: of its process.
    :param origin: where it was sent from, if the agent tells that.
    """
    process = _process(agent)
    if origin is UNSET:
        return Wording(f"It left {process}.")
    return Wording(f"In {process}: ", _left(origin))


def _process(agent: Agent) -> str:
    pid = "" if agent.pid is None else f" {agent.pid}"
    return f"process {_cut(agent.client_id)}{pid}"


def _came_in(origin: RequestOrigin, process: str) -> Wording:
    if origin.kind == "request":
        inbound = origin.inbound
        which = () if inbound is UNSET else (" ", _named(inbound))
        return Wording("A request", *which, f" came into {process} without a context. ")
    if origin.kind == "expired" and origin.inbound is not UNSET:
        end = f" in {process}, and does not count any more. "
        return Wording("A context came in ", _named(origin.inbound), end)
    if origin.kind == "woken" and origin.inbound is not UNSET:
        end = f" in {process}, whose request is over. "
        return Wording("A context came in ", _named(origin.inbound), end)
    if origin.kind in ("handed-over", "unhooked") and origin.inbound is not UNSET:
        return Wording("A context came in ", _named(origin.inbound), f" in {process}. ")
    if origin.carried is not UNSET:
        return Wording("A context came in last ", _named(origin.carried), f" in {process}. ")
    thread = ""
    if origin.kind == "worker" and origin.name is not UNSET:
        thread = f"the {_cut(origin.name)} of "
    return Wording(f"No request with a context has come into {thread}{process}. ")


def _left(origin: RequestOrigin) -> Wording:
    name = "" if origin.name is UNSET else f" {_cut(origin.name)}"
    source = {
        "woken": "from work that requests of other tests have woken",
        "handed-over": "from code that had handed over a result of its request before",
        "unhooked": f"from a process with a copy of{name or ' a library'} that cannot be changed",
        "thread": f"from the thread{name}",
        "pool": f"from the pool's thread{name}",
        "queue": f"from a job of{name or ' a queue'}",
        "timer": f"from a timer{name and ' in' + name}",
        "task": f"from the task{name}",
        "batch": f"from a batch of{name or ' a library'}, whose items are of several tests",
        "message": f"from a message of{name or ' a subscription'}",
        "connection": f"from an event of a connection{name and ' of' + name}",
        "worker": f"from the{name or ' worker thread'}",
        "receiver": f"from a thread that receives messages{name and ' of' + name}",
        "loop": "from a loop that works for everyone",
        "main": "from the main thread",
    }.get(origin.kind, "from its code")
    begun: tuple[str, ...] = ()
    if origin.kind == "loop" and origin.inbound is not UNSET:
        begun = ", begun by a request ", _named(origin.inbound)
    rest = ""
    if origin.at_import:
        rest += ", started at import"
    if origin.started is not UNSET:
        rest += f"{'' if origin.at_import else ', started'} at {_cut(origin.started)}"
    by = "" if origin.library is UNSET else f", by {_cut(origin.library)}"
    at = "" if origin.place is UNSET else f" at {_cut(origin.place)}"
    return Wording(f"This one left {source}", *begun, f"{rest}{by}{at}.")


def _named(inbound: InboundRequest) -> Wording:
    when = f"at {time_of_day(inbound.at)} UTC " if 0 < inbound.at < _LATEST else ""
    path = printable(inbound.path.partition("?")[0][: _LONGEST + 2])
    return Wording(f"{when}to {_cut(inbound.method)} ", url_text(path, _LONGEST + 1))


def _cut(text: str) -> str:
    shown = printable(text[: _LONGEST + 1])
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
