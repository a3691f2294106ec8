"""Run as a child: a Flask application whose page fetches what it is told to, with urllib3.

Another page opens a WebSocket.

The address is printed as one JSON line.
"""

import json
import ssl
import sys

import urllib3
import websocket
from flask import Flask, Response, request
from websockets.sync.client import connect
from werkzeug.serving import make_server

application = Flask(__name__)
pool = urllib3.PoolManager(num_pools=2, retries=False)


@application.get("/page")
def page() -> Response:
    try:
        answer = pool.request("GET", request.args["url"])
    except urllib3.exceptions.HTTPError as error:
        return Response(f"{type(error).__name__}: {error}")
    return Response(answer.data)


@application.get("/streamed")
def streamed() -> Response:
    """Fetch while the answer is sent, when the view has returned."""
    url = request.args["url"]
    return Response(pool.request("GET", url).data for _ in range(2))


@application.get("/socket")
def socket() -> Response:
    """Give the first message of a WebSocket, by the client that the page is asked for."""
    if request.args["url"].startswith("wss:"):
        # The client reads in a thread while it sends, which OpenSSL forbids: with TLS 1.3 one
        # handshake in 1,500 hangs, with and without a proxy.
        trust = ssl.create_default_context()
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        with connect(request.args["url"], ssl=trust) as opened:
            return Response(opened.recv())
    plain = websocket.create_connection(request.args["url"])
    try:
        return Response(plain.recv())
    finally:
        plain.close()


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, application, threaded=True)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
