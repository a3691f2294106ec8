"""Run as a child, ``calls.py LIBRARY PLAN``: what a library sees of each server of a plan.

The plan is JSON on the command line: the ports of the servers, and files of certificates. For each
call a line of JSON comes: its name, and the status and body, or the classes of the error. With a
URL behind it, the plan has the options of one client, see :func:`keep`.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Callable
from typing import Any

SECONDS = 10
IDLE_SECONDS = 0.6
"""The pause behind a call whose server ends the idle connection meanwhile."""

FATES = (
    *("ok", "fin", "rst", "half-fin", "half-rst", "idle-fin", "idle-rst"),
    *("close", "text", "rest-fin"),
)
METHODS = ("PROPFIND", "M-SEARCH", "VERSION-CONTROL", "patch", "X_TEST", "V2", "!")
"""Methods are any tokens (RFC 9110 section 9.1). Some libraries write them in capitals."""


def context_of(options: dict[str, Any]) -> ssl.SSLContext:
    """Make the TLS context of a call."""
    context = ssl.create_default_context(cafile=options.get("verify"))
    if options.get("verify") is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if options.get("cert"):
        context.load_cert_chain(options["cert"])
    if options.get("minimum"):
        context.minimum_version = ssl.TLSVersion[options["minimum"]]
    if options.get("maximum"):
        context.maximum_version = ssl.TLSVersion[options["maximum"]]
    if options.get("ciphers"):
        context.set_ciphers(options["ciphers"])
    return context


def chooses_tls(options: dict[str, Any]) -> bool:
    """Return whether a client has versions of TLS or ciphers of its own."""
    return bool({"minimum", "maximum", "ciphers"} & {*options})


def plain(options: dict[str, Any]) -> Any:
    """Make a function that sends a request by ``http.client``, on one connection."""
    import http.client
    from urllib.parse import urlsplit

    opened: dict[str, Any] = {}

    def get(method: str, url: str) -> tuple[int, bytes]:
        place = urlsplit(url)
        connection = opened.get(place.netloc)
        if connection is None:
            if place.scheme == "https":
                connection = http.client.HTTPSConnection(
                    place.netloc, timeout=SECONDS, context=context_of(options)
                )
            else:
                connection = http.client.HTTPConnection(place.netloc, timeout=SECONDS)
            opened[place.netloc] = connection
        connection.request(method, place.path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    return get


def urllib(options: dict[str, Any]) -> Any:
    import urllib.error
    import urllib.request

    def get(method: str, url: str) -> tuple[int, bytes]:
        request = urllib.request.Request(url, method=method)
        try:
            context = context_of(options) if url.startswith("https") else None
            with urllib.request.urlopen(request, timeout=SECONDS, context=context) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    return get


def urllib3(options: dict[str, Any]) -> Any:
    import urllib3

    urllib3.disable_warnings()
    more: dict[str, Any] = {
        "assert_fingerprint": options.get("pin"),
        "cert_file": options.get("cert"),
    }
    if options.get("verify") is False:
        more["cert_reqs"] = "CERT_NONE"
    elif chooses_tls(options):
        more["ssl_context"] = context_of(options)
    else:
        more["ca_certs"] = options.get("verify")
    manager = urllib3.PoolManager(**{name: more[name] for name in more if more[name]})

    def get(method: str, url: str) -> tuple[int, bytes]:
        answer = manager.request(method, url, timeout=SECONDS, retries=False)
        return answer.status, answer.data

    return get


def requests(options: dict[str, Any]) -> Any:
    import urllib3
    from requests import Session
    from requests.adapters import HTTPAdapter

    urllib3.disable_warnings()
    session = Session()
    session.cert = options.get("cert")
    if chooses_tls(options):

        class Adapter(HTTPAdapter):
            def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
                super().init_poolmanager(*args, ssl_context=context_of(options), **kwargs)

        session.mount("https://", Adapter())

    def get(method: str, url: str) -> tuple[int, bytes]:
        verify = options.get("verify", True)
        answer = session.request(method, url, timeout=SECONDS, verify=verify)
        return answer.status_code, answer.content

    return get


def botocore(options: dict[str, Any]) -> Any:
    """Make a function that sends a request by the transport of boto3."""
    from botocore.awsrequest import AWSRequest
    from botocore.httpsession import URLLib3Session

    session = URLLib3Session(
        verify=options.get("verify", True), timeout=SECONDS, client_cert=options.get("cert")
    )

    def get(method: str, url: str) -> tuple[int, bytes]:
        answer = session.send(AWSRequest(method, url).prepare())
        return answer.status_code, answer.content

    return get


def httpx(options: dict[str, Any]) -> Any:
    import httpx

    only = bool(options.get("http2"))
    client = httpx.Client(timeout=SECONDS, verify=context_of(options), http1=not only, http2=only)

    def get(method: str, url: str) -> tuple[int, bytes]:
        answer = client.request(method, url)
        return answer.status_code, answer.content

    return get


def waiting(make: Callable[[dict[str, Any]], Any]) -> Any:
    """Make a blocking library of an async one; all calls of a case have one event loop."""

    def begin(options: dict[str, Any]) -> Any:
        loop = asyncio.new_event_loop()
        call = loop.run_until_complete(make(options))
        return lambda method, url: loop.run_until_complete(call(method, url))

    return begin


@waiting
async def httpx_async(options: dict[str, Any]) -> Any:
    import httpx

    client = httpx.AsyncClient(timeout=SECONDS, verify=context_of(options))

    async def get(method: str, url: str) -> tuple[int, bytes]:
        answer = await client.request(method, url)
        return answer.status_code, answer.content

    return get


@waiting
async def aiohttp(options: dict[str, Any]) -> Any:
    import aiohttp

    wanted: Any = context_of(options)
    if options.get("pin"):
        wanted = aiohttp.Fingerprint(bytes.fromhex(options["pin"]))
    session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS))

    async def get(method: str, url: str) -> tuple[int, bytes]:
        async with session.request(method, url, ssl=wanted) as answer:
            return answer.status, await answer.read()

    return get


LIBRARIES = {
    "http.client": plain,
    "urllib": urllib,
    "urllib3": urllib3,
    "requests": requests,
    "botocore": botocore,
    "httpx": httpx,
    "httpx, async": httpx_async,
    "aiohttp": aiohttp,
}


def cases(plan: dict[str, Any]) -> list[tuple[str, dict[str, Any], list[str]]]:
    """List the calls: a name, the options of the client, and the URLs of one client.

    A URL may have another method than GET before it.
    """
    listed: list[tuple[str, dict[str, Any], list[str]]] = []
    trusting = {"verify": plan["ca"]}
    for scheme in ("http", "https"):
        base = f"{scheme}://localhost:{plan[scheme]}"
        for fate in FATES:
            # Behind a response that breaks off, the next call may meet a race; behind what is no
            # HTTP, http.client can send nothing on its connection.
            after = [] if "half" in fate or fate == "text" else [f"{base}/ok"]
            listed.append((f"{scheme} {fate}", trusting, [f"{base}/{fate}", *after]))
            listed.append((f"{scheme} reused {fate}", trusting, [f"{base}/ok", f"{base}/{fate}"]))
    listed.append(("folded", trusting, [f"{base}/folded"]))
    base, locked = f"https://localhost:{plan['https']}", f"https://localhost:{plan['locked']}"
    right, wrong = plan["pin"], "ab" * 32
    for scheme in ("http", "https"):
        calls = [f"{method} {scheme}://localhost:{plan[scheme]}/ok" for method in METHODS]
        listed.append((f"{scheme} methods", trusting, calls))
    return [
        *listed,
        ("wrong roots", {"verify": plan["other"]}, [f"{base}/ok"]),
        ("usual roots", {}, [f"{base}/ok"]),
        ("unverified", {"verify": False}, [f"{base}/ok"]),
        ("wrong name", trusting, [f"https://127.0.0.2:{plan['https']}/ok"]),
        ("certificate", {**trusting, "cert": plan["client"]}, [f"{locked}/ok", f"{locked}/ok"]),
        ("no certificate", trusting, [f"{locked}/ok"]),
        ("pinned", {**trusting, "pin": right}, [f"{base}/ok", f"{base}/ok"]),
        ("pinned wrongly", {**trusting, "pin": wrong}, [f"{base}/ok"]),
        *versions_and_ciphers(plan),
        ("HTTP/2 only", {**trusting, "http2": True}, [f"https://localhost:{plan['h2']}/ok"]),
    ]


def versions_and_ciphers(plan: dict[str, Any]) -> list[tuple[str, dict[str, Any], list[str]]]:
    """List calls to servers that speak TLS 1.2 only, or 1.3 only, one cipher up to 1.2 each."""
    trusting = {"verify": plan["ca"]}
    places = {name: [f"https://localhost:{plan[name]}/ok"] for name in ("tls 1.2", "tls 1.3")}
    choices: dict[str, dict[str, Any]] = {
        "at least 1.3": {"minimum": "TLSv1_3"},
        "at most 1.2": {"maximum": "TLSv1_2"},
        "its cipher": {"ciphers": "ECDHE+AESGCM"},
        "another cipher": {"ciphers": "ECDHE+CHACHA20"},
        "the lowest level": {"ciphers": "DEFAULT:@SECLEVEL=0"},
    }
    return [
        (f"{name} {what}", {**trusting, **choice}, urls)
        for what, choice in choices.items()
        for name, urls in places.items()
    ]


def fits(library: str, options: dict[str, Any]) -> bool:
    if chooses_tls(options):
        return library != "botocore"
    if options.get("pin"):
        return library in {"urllib3", "aiohttp"}
    if options.get("http2"):
        import importlib.util

        return library == "httpx" and importlib.util.find_spec("h2") is not None
    return True


def classes(error: BaseException | None) -> list[str]:
    """Name the classes of an error, and of what it was made from."""
    found: list[str] = []
    while error is not None and len(found) < 5:
        found.append(f"{type(error).__module__}.{type(error).__qualname__}")
        inner = [each for each in getattr(error, "args", ()) if isinstance(each, BaseException)]
        reason = getattr(error, "reason", None)
        error = inner[0] if inner else reason if isinstance(reason, BaseException) else None
    return found


def main(library: str, plan: dict[str, Any]) -> None:
    for name, options, urls in cases(plan):
        if not fits(library, options):
            continue
        outcomes: list[Any] = []
        get = LIBRARIES[library](options)
        for url in urls:
            method, _, place = url.rpartition(" ")
            try:
                status, body = get(method or "GET", place)
                outcomes.append([status, body.decode()])
                if "/idle" in place:
                    time.sleep(IDLE_SECONDS)
            except Exception as error:  # noqa: BLE001 - what the library raises is the result
                outcomes.append([*classes(error), str(error)[:300]])
        sys.stdout.write(json.dumps([name, outcomes]) + "\n")


def keep(library: str, options: dict[str, Any], url: str) -> None:
    """Call a URL by one client for each line that is read, and write the body or the error."""
    get = LIBRARIES[library](options)
    for _ in sys.stdin:
        try:
            text = get("GET", url)[1].decode()
        except Exception as error:  # noqa: BLE001 - what the library raises is the result
            text = f"{classes(error)}: {error}"
        sys.stdout.write(json.dumps(text) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    library, given, *urls = sys.argv[1:]
    if urls:
        keep(library, json.loads(given), urls[0])
    else:
        main(library, json.loads(given))
