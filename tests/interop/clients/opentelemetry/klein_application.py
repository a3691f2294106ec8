"""A klein application with one page, and treq as its client."""

import sys
from typing import Any

import treq
from klein import Klein
from twisted.internet import reactor as _reactor  # noqa: TID251 - the program's own
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.web.client import Agent
from twisted.web.server import Site

from tests.interop.clients.opentelemetry.serving import FIRST, SECOND, listening

reactor: Any = _reactor
application = Klein()
resource = application.resource
client = treq.client.HTTPClient(Agent(reactor))


@application.route("/page")
async def page(_request: object) -> str:
    texts = []
    for url in (FIRST, SECOND):
        response = await client.get(url)
        texts.append(await response.text())
    return "\n".join(texts)


if __name__ == "__main__":
    port = listening()
    endpoint = AdoptedStreamServerEndpoint(reactor, port.fileno(), port.family)
    endpoint.listen(Site(resource()))
    reactor.run()
    sys.exit()
