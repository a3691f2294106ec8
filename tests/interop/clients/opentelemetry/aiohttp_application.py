"""An aiohttp application with one page."""

import asyncio

from aiohttp import ClientSession, web

from tests.interop.clients.opentelemetry.serving import FIRST, SECOND, listening


async def text(client: ClientSession, url: str) -> str:
    async with client.get(url) as answer:
        return await answer.text()


async def page(_: web.Request) -> web.Response:
    async with ClientSession(trust_env=True) as client:
        answers = await asyncio.gather(text(client, FIRST), text(client, SECOND))
    return web.Response(text="\n".join(answers))


if __name__ == "__main__":
    application = web.Application()
    application.router.add_get("/page", page)
    web.run_app(application, sock=listening(), print=None)
