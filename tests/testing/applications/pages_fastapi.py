"""Run as a child: a FastAPI application whose pages say what three third parties said.

The address is printed as one JSON line.
"""

import asyncio
import json
import socket
import sys

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

HOST = "http://third.test"

application = FastAPI()
client = httpx.AsyncClient(timeout=60)


@application.get("/page", response_class=PlainTextResponse)
async def page() -> str:
    urls = [f"{HOST}/{name}" for name in ("price", "stock", "reviews")]
    answers = await asyncio.gather(*(client.get(url) for url in urls))
    return " ".join(answer.text for answer in answers)


if __name__ == "__main__":
    port = socket.create_server(("127.0.0.1", 0), backlog=100)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{port.getsockname()[1]}"}) + "\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(application, log_level="error")).run(sockets=[port])
