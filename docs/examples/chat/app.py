"""A page that streams the answer of a language model, by FastAPI."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from fastapi import FastAPI
from fastapi.responses import FileResponse, StreamingResponse

QUESTION = {
    "model": "tea-1",
    "stream": True,
    "messages": [{"role": "user", "content": "How do I make tea?"}],
}

app = FastAPI()


@app.get("/")
def page() -> FileResponse:
    return FileResponse(Path(__file__).with_name("page.html"))


@app.post("/ask")
async def ask() -> StreamingResponse:
    return StreamingResponse(tokens(), media_type="text/plain")


async def tokens() -> AsyncIterator[str]:
    async with (
        httpx.AsyncClient() as client,
        client.stream("POST", "https://llm.example/v1/chat/completions", json=QUESTION) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line.removeprefix("data: "))["choices"]:
                    yield choice["delta"].get("content", "")
