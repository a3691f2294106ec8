"""Sends one request to pay.test, in the way that the first argument names: ``WAY PORT``.

All names are found on this machine, where the port says whether anything arrives.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import os
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from typing import Any

HOST = "pay.test"
SECONDS = 3
WAY, PORT = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
URL = f"http://{HOST}:{PORT}/left"
PROXY = f"http://127.0.0.1:{PORT}"
_getaddrinfo = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    """Find the names of tests on this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    found = "127.0.0.1" if name and name.endswith(".test") else host
    return _getaddrinfo(found, *more, **options)


# Also in the processes of multiprocessing.
socket.getaddrinfo = getaddrinfo
socket.setdefaulttimeout(SECONDS)


def by_http_client() -> None:
    connection = http.client.HTTPConnection(HOST, PORT)
    connection.request("GET", "/left")
    connection.getresponse().read()


def by_subclass() -> None:
    class Own(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.create_connection((self.host, self.port), SECONDS)

    connection = Own(HOST, PORT)
    connection.request("GET", "/left")
    connection.getresponse().read()


def by_set_tunnel() -> None:
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.set_tunnel(HOST, 80)
    connection.request("GET", "/left")


def by_urllib() -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(URL)


def by_urllib_proxy() -> None:
    urllib.request.build_opener(urllib.request.ProxyHandler({"http": PROXY})).open(URL)


def by_urllib3() -> None:
    import urllib3

    urllib3.PoolManager(retries=False).request("GET", URL)


def by_proxy_manager() -> None:
    import urllib3

    urllib3.ProxyManager(PROXY, retries=False).request("GET", URL)


def by_requests(**options: Any) -> None:
    import requests

    with requests.Session() as session:
        session.trust_env = False
        session.get(URL, **options)


def by_httpx(**options: Any) -> None:
    import httpx

    with httpx.Client(trust_env=False, **options) as client:
        client.get(URL).raise_for_status()


def by_httpx_transport() -> None:
    import httpx

    by_httpx(transport=httpx.HTTPTransport())


async def by_aiohttp(**options: Any) -> None:
    import aiohttp

    connector = aiohttp.TCPConnector(resolver=aiohttp.ThreadedResolver())
    async with (
        aiohttp.ClientSession(connector=connector, trust_env=False) as session,
        session.get(URL, **options) as answer,
    ):
        answer.raise_for_status()


def by_twisted() -> None:
    from twisted.internet import task
    from twisted.web.client import Agent

    task.react(lambda reactor: Agent(reactor).request(b"GET", URL.encode()))


def by_httplib2() -> None:
    import httplib2

    httplib2.Http(proxy_info=None, timeout=SECONDS).request(URL)


def by_websocket_client(**options: Any) -> None:
    import websocket

    websocket.create_connection(URL.replace("http", "ws"), **options)


async def by_websockets(**options: Any) -> None:
    from websockets.asyncio.client import connect

    async with connect(URL.replace("http", "ws"), **options):
        pass


def by_pycurl(noproxy: str | None = None) -> None:
    import pycurl

    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, URL)
    curl.setopt(pycurl.TIMEOUT, SECONDS)
    curl.setopt(pycurl.RESOLVE, [f"{HOST}:{PORT}:127.0.0.1"])
    if noproxy:
        curl.setopt(pycurl.NOPROXY, noproxy)
    curl.perform()
    print(curl.getinfo(pycurl.RESPONSE_CODE))


def by_curl_cffi(noproxy: str | None = None) -> None:
    from curl_cffi import CurlOpt, requests

    options: dict[Any, Any] = {CurlOpt.RESOLVE: [f"{HOST}:{PORT}:127.0.0.1"]}
    if noproxy:
        options[CurlOpt.NOPROXY] = noproxy.encode()
    print(requests.get(URL, timeout=SECONDS, curl_options=options).status_code)


def by_grpc(**options: int) -> None:
    import grpc

    given = [(f"grpc.{name}", value) for name, value in options.items()]
    # The C core has a resolver of its own; a proxy is told the name of the target.
    target = f"127.0.0.1:{PORT}" if options else f"{HOST}:{PORT}"
    with grpc.insecure_channel(target, given) as channel:
        channel.unary_unary("/a/left")(b"", timeout=SECONDS)


def by_niquests() -> None:
    import niquests

    with niquests.Session() as session:
        session.trust_env = False
        session.get(URL)


def by_socket() -> None:
    with socket.create_connection((HOST, PORT), SECONDS) as opened:
        opened.sendall(b"GET /left HTTP/1.1\r\nHost: pay.test\r\n\r\n")
        opened.recv(1)


def by_tls_socket() -> None:
    context = ssl.create_default_context()
    with socket.create_connection((HOST, PORT), SECONDS) as opened:
        context.wrap_socket(opened, server_hostname=HOST)


async def by_streams() -> None:
    reader, writer = await asyncio.open_connection(HOST, PORT)
    writer.write(b"GET /left HTTP/1.1\r\nHost: pay.test\r\n\r\n")
    await asyncio.wait_for(reader.read(1), SECONDS)


async def by_sock_connect() -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as opened:
        opened.settimeout(0)
        await loop.sock_connect(opened, ("127.0.0.1", PORT))
        await loop.sock_sendall(opened, b"left")


def by_udp() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as opened:
        opened.sendto(b"left", ("127.0.0.1", PORT))


def by_dnspython() -> None:
    import dns.message
    import dns.query

    dns.query.udp(dns.message.make_query("left.test", "A"), "127.0.0.1", port=PORT, timeout=0.3)


def by_curl(*options: str) -> None:
    resolve = f"{HOST}:{PORT}:127.0.0.1"
    subprocess.run(["curl", "-sS", "-m3", "--resolve", resolve, *options, URL], check=True)


def by_python(*options: str, **more: Any) -> None:
    program = [sys.executable, *options, __file__, "http.client", str(PORT)]
    subprocess.run(program, check=True, **more)


def by_multiprocessing(method: Any) -> None:
    process = multiprocessing.get_context(method).Process(target=by_http_client)
    process.start()
    process.join()


def by_thread() -> None:
    thread = threading.Thread(target=by_http_client)
    thread.start()
    thread.join()


def by_fork() -> None:
    if os.fork() == 0:
        by_http_client()
        os._exit(0)
    os.wait()


WAYS: dict[str, Any] = {
    "http.client": by_http_client,
    "http.client, subclass that connects by itself": by_subclass,
    "http.client, another proxy by set_tunnel": by_set_tunnel,
    "urllib, no proxies": by_urllib,
    "urllib, another proxy": by_urllib_proxy,
    "urllib3, own pool": by_urllib3,
    "urllib3, another proxy": by_proxy_manager,
    "requests, trust_env=False": by_requests,
    "requests, another proxy": lambda: by_requests(proxies={"http": PROXY}),
    "httpx, trust_env=False": by_httpx,
    "httpx, own transport": by_httpx_transport,
    "httpx, another proxy": lambda: by_httpx(proxy=PROXY),
    "aiohttp, trust_env=False": by_aiohttp,
    "aiohttp, another proxy": lambda: by_aiohttp(proxy=PROXY),
    "Twisted's Agent": by_twisted,
    "httplib2, no proxy": by_httplib2,
    "websocket-client": by_websocket_client,
    "websocket-client, no proxy": lambda: by_websocket_client(http_no_proxy=["*"]),
    "websockets": by_websockets,
    "websockets, proxy=None": lambda: by_websockets(proxy=None),
    "pycurl": by_pycurl,
    "pycurl, NOPROXY": lambda: by_pycurl("*"),
    "curl_cffi": by_curl_cffi,
    "curl_cffi, NOPROXY": lambda: by_curl_cffi("*"),
    "grpcio": by_grpc,
    "grpcio, enable_http_proxy=0": lambda: by_grpc(enable_http_proxy=0),
    "niquests, trust_env=False": by_niquests,
    "thread": by_thread,
    "os.fork": by_fork,
    "multiprocessing, fork": lambda: by_multiprocessing("fork"),
    "multiprocessing, spawn": lambda: by_multiprocessing("spawn"),
    "child python": by_python,
    "child python, env={}": lambda: by_python(env={}),
    "child python, -I": lambda: by_python("-I"),
    "child curl": by_curl,
    "child curl, --noproxy": lambda: by_curl("--noproxy", "*"),
    "NO_PROXY": by_http_client,
    "NO_PROXY, child curl": by_curl,
    "run --no-proxy": by_http_client,
    "run --no-proxy, child curl": by_curl,
    "TRAFFICMOCK_IGNORE_HOSTS": by_http_client,
    "socket": by_socket,
    "TLS socket": by_tls_socket,
    "asyncio streams": by_streams,
    "asyncio sock_connect": by_sock_connect,
    "UDP socket": by_udp,
    "dnspython": by_dnspython,
}


def main() -> None:
    if WAY == "--list":
        print(json.dumps(list(WAYS)))
        return
    try:
        made = WAYS[WAY]()
        if made is not None:
            asyncio.run(made)
    except ModuleNotFoundError as error:
        missing = error.name is not None and "trafficmock" not in str(error)
        print("not installed" if missing else error)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
