"""The modules to change, with the functions that change them."""

from __future__ import annotations

import sys
from functools import partial
from os import getpid
from time import monotonic

from trafficmock_preload import child_environment, import_hook
from trafficmock_preload.application_name import application_name
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.notices import Notices
from trafficmock_preload.preload_settings import PreloadSettings, SettingsError
from trafficmock_preload.proxy_tunnel import Tunnels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping
    from types import ModuleType
    from typing import Any


attached: list[tuple[Tunnels, TestContexts]] = []
"""What :func:`install` has attached this process with; at most one."""


def install(directory: str, environment: MutableMapping[str, str]) -> None:
    """Change the modules that this process imports.

    If a variable is wrong, that is written to stderr and each request fails: requests of tests must
    not reach the real network because of a mistake.

    :param directory: the directory of the preload.
    :param environment: the variables of the process.
    """
    tunnels, contexts = _made(environment)
    every = {**changes(tunnels, contexts), "subprocess": _of_subprocess(directory)}
    import_hook.install(every)
    child_environment.change_os(directory)
    attached.append((tunnels, contexts))


class OwnProcess:
    """This process, attached while it runs, such as that of tests, until :meth:`restore`.

    Its child processes are not attached, because its environment stays as it is.

    :param environment: the variables of an attached application; they are not set.
    :raises SettingsError: if a variable is wrong; then nothing is changed.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        settings = PreloadSettings(environment, lambda: application_name({**environment}))
        self._tunnels = Tunnels(settings)
        self._tunnels.tests_pid = getpid()
        self.contexts = TestContexts(settings.context_seconds, is_on=settings.reads_contexts)
        give_notices(self._tunnels, self.contexts)
        self._kept: list[import_hook.Changed] = []
        self._finder = import_hook.install(
            {
                name: partial(self._change, change)
                for name, change in changes(self._tunnels, self.contexts).items()
            }
        )

    def _change(self, change: Callable[[ModuleType], None], module: ModuleType) -> None:
        kept = import_hook.Changed(module)
        self._kept.append(kept)
        try:
            change(module)
        finally:
            kept.compare()

    def restore(self) -> None:
        """Undo all changes; connections in tunnels stay open."""
        sys.meta_path.remove(self._finder)
        self._tunnels.close()
        for kept in reversed(self._kept):
            kept.restore()
        self._kept.clear()


def _made(environment: MutableMapping[str, str]) -> tuple[Tunnels, TestContexts]:
    try:
        settings = PreloadSettings(environment, lambda: application_name(environment))
        tunnels = Tunnels(settings)
    except SettingsError as error:
        sys.stderr.write(f"trafficmock: {error}\n")
        return Tunnels(None, str(error)), TestContexts(0, is_on=False)
    contexts = TestContexts(settings.context_seconds, is_on=settings.reads_contexts)
    give_notices(tunnels, contexts)
    return tunnels, contexts


def give_notices(
    tunnels: Tunnels, contexts: TestContexts, now: Callable[[], float] = monotonic
) -> None:
    """Tell the proxy of contexts that come in, and of connections to hosts that are ignored.

    :param now: returns monotonic seconds.
    """
    notices = Notices(tunnels.proxy, tunnels.request, now)

    def ignored(host: str, port: int) -> None:
        context = contexts.current()
        notices.ignored(host, port, "" if context is None else context.id)

    contexts.seen, tunnels.ignored = notices.seen, ignored
    contexts.do_tests_run = notices.do_tests_run
    tunnels.reads_contexts = lambda: contexts.is_on and contexts.has_entries
    tunnels.asked, tunnels.tells_origins = contexts.ask_origins, contexts.is_on


def _of_subprocess(directory: str) -> Callable[[ModuleType], None]:
    return partial(_change, "child_environment", "change_subprocess", (directory,))


def changes(tunnels: Tunnels, contexts: TestContexts) -> dict[str, Callable[[ModuleType], None]]:
    """Return the changes by the names of modules, but for those that reach child processes."""
    made: dict[str, Callable[[ModuleType], None]] = {}

    def add(module: str, place: str, function: str, *needed: Any) -> None:
        made[module] = partial(_change, place, function, needed)

    def add_client(module: str, place: str, function: str) -> None:
        add(module, f"clients.{place}", function, tunnels, contexts)

    add("ssl", "tunnel_trust", "change_ssl", tunnels)
    add("truststore._api", "tunnel_trust", "change_truststore", tunnels)
    add("pip._vendor.truststore._api", "tunnel_trust", "change_truststore", tunnels)
    add("urllib3.contrib.pyopenssl", "tunnel_trust", "change_pyopenssl", tunnels)
    add_client("http.client", "http_client_change", "change_http_client")
    add_client("urllib.request", "http_client_change", "change_urllib")
    add_client("urllib3.connection", "urllib3_future_change", "change_either")
    add_client("urllib3_future.connection", "urllib3_future_change", "change_either")
    for library in ("urllib3", "urllib3_future"):
        add_client(f"{library}._async.connection", "urllib3_future_change", "change_async")
    add_client("httplib2", "httplib2_change", "change_httplib2")
    for library in ("httpcore._sync", "httpcore._async", "httpcore2._sync", "httpcore2._async"):
        add_client(f"{library}.connection_pool", "httpcore_change", "change_pool")
        add_client(f"{library}.http11", "httpcore_change", "change_http11")
        add_client(f"{library}.http_proxy", "httpcore_change", "change_proxy")
    add_client("aiohttp.connector", "aiohttp_change", "change_connector")
    add_client("aiohttp.client_reqrep", "aiohttp_change", "change_requests")
    add_client("twisted.web.client", "twisted_change", "change_agent")
    add_client("twisted.web._newclient", "twisted_change", "change_protocol")
    if tunnels.settings is not None and tunnels.settings.all_websockets:
        for module, (place, function) in _WEBSOCKETS.items():
            add_client(module, place, function)
    for module, transport in _ENVIRONMENT_PROXIES.items():
        add(module, "clients.environment_proxies", "change_getproxies", tunnels, transport)
    for module, (place, function, transport) in _GIVEN_PROXIES.items():
        add(module, f"clients.{place}", function, tunnels, transport)
    for module, place, function, *names in _of_contexts():
        add(module, place, function, contexts, *names)
    return made


def _of_contexts() -> Iterator[tuple[str, ...]]:
    """Yield the modules whose changes need the contexts alone.

    :returns: each with a module of the preload, its function and further arguments.
    """
    for place, entries in (
        ("framework_entries", _FRAMEWORKS),
        ("server_entries", _SERVERS),
        ("task_entries", _TASK_QUEUES),
        ("aws_messages", _AWS),
    ):
        for module, change in entries.items():
            yield (module, f"entries.{place}", *change)
    for module, (place, *names) in _BACKGROUND.items():
        yield (module, f"background.{place}", *names)


_WEBSOCKETS = {
    "websockets.asyncio.client": ("websockets_asyncio_change", "change_asyncio"),
    "websockets.legacy.client": ("websockets_asyncio_change", "change_legacy"),
    "websockets.trio.client": ("websockets_trio_change", "change_trio"),
    "websockets.sync.client": ("websockets_change", "change_sync"),
    "websocket._http": ("websocket_client_change", "change_connections"),
    "websocket._handshake": ("websocket_client_change", "change_handshakes"),
}
"""WebSocket libraries, which are changed with ``TRAFFICMOCK_WEBSOCKET=all`` only."""

_FRAMEWORKS = {
    "flask.app": ("change_wsgi", "Flask"),
    "django.core.handlers.wsgi": ("change_wsgi", "WSGIHandler"),
    "django.core.handlers.asgi": ("change_asgi", "ASGIHandler"),
    "starlette.applications": ("change_asgi", "Starlette"),
    "wsgiref.handlers": ("change_wsgiref",),
    "aiohttp.web_app": ("change_aiohttp_web",),
    "twisted.web.http": ("change_twisted_web",),
}
"""Frameworks by module, with a function of :mod:`.entries.framework_entries` and its argument."""

_SERVERS = {
    "gunicorn.http.wsgi": ("change_gunicorn",),
    "waitress.task": ("change_environ", "WSGITask", "get_environment", "execute"),
    "werkzeug.serving": ("change_environ", "WSGIRequestHandler", "make_environ", "run_wsgi"),
    "gevent.pywsgi": ("change_environ", "WSGIHandler", "get_environ", "handle_one_response"),
    "cheroot.wsgi": ("change_cheroot",),
    "uvicorn.config": ("change_application", "Config", "load", "loaded_app"),
    "hypercorn.app_wrappers": ("change_hypercorn",),
    "daphne.server": ("change_application", "Server", "__init__", "application"),
    "sanic.server.protocols.http_protocol": ("change_sanic",),
    "tornado.web": ("change_tornado",),
    "twisted.internet.defer": ("change_deferreds",),
}
"""Servers by module, with a function of :mod:`.entries.server_entries` and its arguments."""

_TASK_QUEUES = {
    "kombu.messaging": ("change_kombu",),
    "celery.app.trace": ("change_celery",),
    "rq.job": ("change_rq",),
    "rq.callbacks": ("change_rq_callbacks",),
    "dramatiq.actor": ("change_dramatiq_actors",),
    "dramatiq.worker": ("change_dramatiq_workers",),
}
"""Task queues by module, with a function of :mod:`.entries.task_entries`."""

_AWS = {
    "botocore.client": ("change_botocore",),
    "boto3.resources.response": ("change_boto3_resources",),
}
"""Modules of AWS's clients, with a function of :mod:`.entries.aws_messages`."""

_BACKGROUND = {
    "threading": ("thread_contexts", "change_threads"),
    "concurrent.futures._base": ("thread_contexts", "change_futures"),
    "concurrent.futures.thread": ("thread_contexts", "change_executors"),
    "concurrent.futures.process": ("process_contexts", "change_process_executors"),
    "multiprocessing.process": ("process_contexts", "change_processes"),
    "multiprocessing.pool": ("thread_contexts", "change_multiprocessing_pools"),
    "twisted.python.threadpool": ("thread_contexts", "change_twisted_pools"),
    "queue": ("thread_queues", "change_queues"),
    "asyncio.queues": ("task_queues", "change_asyncio_queues"),
    "asyncio.locks": ("signals", "change_asyncio_signals"),
    "asyncio.tasks": ("task_queues", "change_wait_for"),
    "asyncio.futures": ("thread_contexts", "change_wrapped_futures"),
    "asyncio.base_events": ("event_loops", "change_loops", "BaseEventLoop", "call_at"),
    "asyncio.selector_events": ("event_loops", "change_sockets"),
    "uvloop": ("event_loops", "change_uvloop"),
    "anyio._backends._asyncio": ("event_loops", "change_anyio_threads"),
    "anyio.streams.memory": ("task_queues", "change_anyio_streams"),
    "gevent.greenlet": ("greenlets", "change_gevent"),
    "gevent.queue": ("greenlets", "change_gevent_queues"),
    "gevent.pool": ("greenlets", "change_gevent_groups"),
    "gevent.threadpool": ("greenlets", "change_gevent_pools"),
    "eventlet.queue": ("greenlets", "change_eventlet_queues"),
    "eventlet.greenthread": ("greenlets", "change_eventlet"),
    "sched": ("kept_jobs", "change_sched"),
    "logging.handlers": ("log_records", "change_log_handlers"),
    "apscheduler.job": ("kept_jobs", "change_apscheduler_jobs"),
    "apscheduler.executors.base": ("kept_jobs", "change_apscheduler_executors"),
    "aiojobs._job": ("kept_jobs", "change_aiojobs"),
    "strawberry.dataloader": ("kept_jobs", "change_strawberry_loaders"),
    "aiodataloader": ("kept_jobs", "change_aiodataloader"),
    "promise.dataloader": ("kept_jobs", "change_promise_loaders"),
    "weakref": ("kept_jobs", "change_finalizers"),
    "socket": ("received_messages", "change_socket_files"),
    "redis.commands.core": ("received_messages", "change_redis_reads"),
    "redis.client": ("received_messages", "change_redis"),
    "redis.asyncio.client": ("received_messages", "change_redis"),
    "psycopg.connection": ("received_messages", "change_psycopg", "Connection"),
    "psycopg.connection_async": ("received_messages", "change_psycopg", "AsyncConnection"),
}
"""Threads, pools, queues, timers and what keeps jobs, by module.

Each has a module of :mod:`.background`, a function of it, and the arguments of that.
"""

_SERVING = {*_FRAMEWORKS, *_SERVERS, *_TASK_QUEUES} - {"twisted.internet.defer"}
"""Modules by which a process gets requests and tasks, whose contexts it then reads."""

_ENVIRONMENT_PROXIES = {
    "requests.utils": "urllib3.connection",
    "botocore.utils": "urllib3.connection",
    "httpx._utils": "httpcore._sync.connection_pool",
    "httpx2._utils": "httpcore2._sync.connection_pool",
    "aiohttp.helpers": "aiohttp.connector",
}
"""Modules that read proxies from the environment, with the modules that open connections."""

_GIVEN_PROXIES = {
    "urllib3_future.poolmanager": ("environment_proxies", "change_proxy_manager", "connection"),
    "urllib3.poolmanager": ("environment_proxies", "change_proxy_manager", "connection"),
    "requests.adapters": ("refused_requests", "change_requests", "urllib3.connection"),
    "httpx._client": ("refused_requests", "change_httpx", "httpcore._sync.connection_pool"),
    "httpx2._client": ("refused_requests", "change_httpx", "httpcore2._sync.connection_pool"),
}
"""Modules in which a program may give a library a proxy, as above."""


def _change(place: str, function: str, needed: tuple[Any, ...], module: ModuleType) -> None:
    """Change a module by a function, which is imported now.

    :param place: the function's module in the preload.
    :param needed: its arguments besides the module.
    """
    from importlib import import_module

    found = import_module(f"trafficmock_preload.{place}")
    tunnels = next((each for each in needed if isinstance(each, Tunnels)), None)
    try:
        getattr(found, function)(module, *needed)
    except Exception as error:
        if tunnels is None:
            sys.stderr.write(
                f"trafficmock: {module.__name__} cannot be changed ({type(error).__name__}: "
                f"{error}), so requests there have no context.\n"
            )
            return
        _not_attached(module, error, tunnels)
    else:
        if tunnels is not None:
            tunnels.changed.add(module.__name__)
        if module.__name__ in _SERVING:
            contexts = next(each for each in needed if isinstance(each, TestContexts))
            contexts.has_entries = True


def _not_attached(module: ModuleType, error: Exception, tunnels: Tunnels) -> None:
    """Handle a client library that cannot be changed.

    :raises NotAttachableError: unless ``TRAFFICMOCK_ALLOW_UNATTACHED`` is set: its requests would
        reach real servers, and neither tests nor strict mode would see them.
    """
    reason = f"{type(error).__name__}: {error}"
    text = (
        f"{module.__name__} cannot be attached ({reason}). Its requests pass through the proxy "
        "only where the library reads the proxy variables"
    )
    if tunnels.settings is not None and not tunnels.settings.allows_unattached:
        raise import_hook.NotAttachableError(
            f"{text}, so tests and strict mode may not see them: the import is refused. To go on "
            "without, start the application by `trafficmock run --allow-unattached`, or with "
            "TRAFFICMOCK_ALLOW_UNATTACHED=1"
        ) from error
    sys.stderr.write(f"trafficmock: {text}.\n")
