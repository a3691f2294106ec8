import asyncio
import sys

import aiohttp


async def main(url: str) -> None:
    # Without trust_env aiohttp looks at no variable.
    async with aiohttp.ClientSession(trust_env=True) as session, session.get(url) as answer:
        print(await answer.text())


asyncio.run(main(sys.argv[1]))
