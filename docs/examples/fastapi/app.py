"""A shop that asks a price service, and tells an audit service afterwards."""

import httpx
from fastapi import BackgroundTasks, FastAPI, HTTPException

app = FastAPI()


@app.get("/price/{item}")
async def price(item: str, tasks: BackgroundTasks) -> dict[str, object]:
    async with httpx.AsyncClient() as client:
        try:
            answer = await client.get("https://prices.example/v1", params={"item": item})
            answer.raise_for_status()
        except httpx.HTTPError:
            raise HTTPException(503, "no prices today") from None
    tasks.add_task(tell_audit, item)
    return {"item": item, "price": answer.json()["price"]}


async def tell_audit(item: str) -> None:
    async with httpx.AsyncClient() as client:
        await client.post("https://audit.example/asked", json={"item": item})
