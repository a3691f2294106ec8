"""A FastAPI application with one page."""

import asyncio

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

from tests.interop.clients.opentelemetry.serving import FIRST, SECOND, listening

application = FastAPI()
client = httpx.AsyncClient(timeout=60)


@application.get("/page", response_class=PlainTextResponse)
async def page() -> str:
    answers = await asyncio.gather(client.get(FIRST), client.get(SECOND))
    return "\n".join(answer.text for answer in answers)


if __name__ == "__main__":
    server = uvicorn.Server(uvicorn.Config(application, log_level="error"))
    server.run(sockets=[listening()])
