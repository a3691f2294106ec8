"""Run as a child: a Flask application whose page fetches what it is told to, with urllib3.

The address is printed as one JSON line.
"""

import json
import sys

import urllib3
from flask import Flask, Response, request
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


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, application, threaded=True)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
