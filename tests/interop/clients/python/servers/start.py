"""Starts a server that has no command: ``python -m … NAME PORT``."""

import asyncio
import sys
from typing import Any

from tests.interop.clients.python.servers import applications

HOST = "127.0.0.1"


def waitress(port: int) -> None:
    from waitress import serve  # noqa: PLC0415 - one server a process

    serve(applications.wsgi, host=HOST, port=port, threads=8)


def werkzeug(port: int) -> None:
    from werkzeug.serving import run_simple  # noqa: PLC0415

    run_simple(HOST, port, applications.wsgi, threaded=True)


def gevent(port: int) -> None:
    from gevent import monkey  # noqa: PLC0415

    monkey.patch_all()
    from gevent.pywsgi import WSGIServer  # noqa: PLC0415

    WSGIServer((HOST, port), applications.wsgi, log=None).serve_forever()


def cheroot(port: int) -> None:
    from cheroot.wsgi import Server  # noqa: PLC0415

    Server((HOST, port), applications.wsgi, numthreads=8).start()


def cherrypy(port: int) -> None:
    import cherrypy as library  # noqa: PLC0415

    class Root:
        @library.expose
        def index(self) -> str:
            return applications.ask()

    settings = {"server.socket_host": HOST, "server.socket_port": port, "log.screen": False}
    library.config.update(settings)
    library.quickstart(Root())


def sanic(port: int) -> None:
    from sanic import Sanic, text  # noqa: PLC0415

    application = Sanic("application")

    async def page(_: Any) -> Any:
        return text(await applications.ask_async())

    application.add_route(page, "/")
    application.run(host=HOST, port=port, single_process=True, access_log=False)


def tornado(port: int) -> None:
    from tornado.web import Application, RequestHandler  # noqa: PLC0415

    class Page(RequestHandler):
        async def get(self) -> None:
            self.write(await applications.ask_async())

    async def serve() -> None:
        Application([("/", Page)]).listen(port, HOST)
        await asyncio.Event().wait()

    asyncio.run(serve())


def klein(port: int) -> None:
    """Serve a page that adds callbacks to plain Deferreds."""
    import treq  # noqa: PLC0415
    from klein import Klein  # noqa: PLC0415

    application = Klein()

    @application.route("/")
    def page(_: Any) -> Any:
        asked = treq.get(applications.URL)
        asked.addCallback(lambda _: treq.get(applications.URL))
        asked.addCallback(treq.text_content)
        return asked

    application.run(HOST, port)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
