"""One page in each framework, and in none: it answers what a third party answers.

Imported by servers in an environment of their own, which lacks the packages of the tests.
"""

from typing import Any

URL = "http://prices.example/item"
SECONDS = 30


def ask() -> str:
    """Ask the third party; an error is the answer, too."""
    import requests  # noqa: PLC0415 - not every application has it

    try:
        return requests.get(URL, timeout=SECONDS).text
    except requests.RequestException as error:
        return f"failed: {error}"


async def ask_async() -> str:
    """Do the same in a coroutine."""
    import httpx  # noqa: PLC0415 - not every application has it

    async with httpx.AsyncClient(timeout=SECONDS) as client:
        try:
            return (await client.get(URL)).text
        except httpx.HTTPError as error:
            return f"failed: {error}"


def wsgi(_: Any, start_response: Any) -> list[bytes]:
    body = ask().encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for _ in range(2):
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
        return
    body = (await ask_async()).encode()
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def bottle() -> Any:
    from bottle import Bottle  # noqa: PLC0415

    application = Bottle()
    application.route("/")(ask)
    return application


class FalconResource:
    """The page in Falcon."""

    def on_get(self, _: Any, response: Any) -> None:
        response.text = ask()


class AsyncFalconResource:
    """The page in Falcon as ASGI."""

    async def on_get(self, _: Any, response: Any) -> None:
        response.text = await ask_async()


def falcon() -> Any:
    from falcon import App  # noqa: PLC0415

    application = App()
    application.add_route("/", FalconResource())
    return application


def falcon_asgi() -> Any:
    from falcon.asgi import App  # noqa: PLC0415

    application = App()
    application.add_route("/", AsyncFalconResource())
    return application


def quart() -> Any:
    from quart import Quart  # noqa: PLC0415

    application = Quart("application")
    application.add_url_rule("/", view_func=ask_async)
    return application


def litestar() -> Any:
    from litestar import Litestar, MediaType, get  # noqa: PLC0415

    @get("/", media_type=MediaType.TEXT)
    async def page() -> str:
        return await ask_async()

    return Litestar([page])
