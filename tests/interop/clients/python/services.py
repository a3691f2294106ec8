"""Run as a child: each line of input names a service, whose client is called.

For each line one line of JSON comes back: what the client returned, or its error with the errors
that caused it. Clients are told to ask ``SERVICE_URL``, and to repeat nothing.
"""

import asyncio
import json
import os
import sys
from typing import Any

BASE = os.environ.get("SERVICE_URL", "")
PORT = int(BASE.rpartition(":")[2] or 0)


def stripe() -> Any:
    import stripe as sdk

    client = sdk.StripeClient(
        "sk_test_1", base_addresses={"api": f"{BASE}/stripe"}, max_network_retries=0
    )
    return client.v1.customers.retrieve("cus_1").to_dict()


def openai() -> Any:
    import openai as sdk

    client = sdk.OpenAI(base_url=f"{BASE}/openai", api_key="k", max_retries=0)
    return [model.id for model in client.models.list()]


def openai_stream() -> Any:
    import openai as sdk

    client = sdk.OpenAI(base_url=f"{BASE}/openai", api_key="k", max_retries=0)
    messages: Any = [{"role": "user", "content": "hi"}]
    stream = client.chat.completions.create(model="m", messages=messages, stream=True)
    return [chunk.choices[0].delta.content for chunk in stream]


def openai_async() -> Any:
    import openai as sdk

    async def call() -> list[str]:
        async with sdk.AsyncOpenAI(base_url=f"{BASE}/openai", api_key="k", max_retries=0) as client:
            return [model.id async for model in client.models.list()]

    return asyncio.run(call())


def anthropic() -> Any:
    import anthropic as sdk

    client = sdk.Anthropic(base_url=f"{BASE}/anthropic", api_key="k", max_retries=0)
    message = client.messages.create(
        model="m", max_tokens=5, messages=[{"role": "user", "content": "hi"}]
    )
    return message.to_dict()


def anthropic_stream() -> Any:
    import anthropic as sdk

    client = sdk.Anthropic(base_url=f"{BASE}/anthropic/streamed", api_key="k", max_retries=0)
    messages: Any = [{"role": "user", "content": "hi"}]
    with client.messages.stream(model="m", max_tokens=5, messages=messages) as stream:
        pieces = list(stream.text_stream)
        return [pieces, stream.get_final_message().to_dict()]


def slack() -> Any:
    from slack_sdk import WebClient

    client = WebClient("xoxb-1", base_url=f"{BASE}/slack/", retry_handlers=[])
    return client.chat_postMessage(channel="C1", text="hi").data


def twilio() -> Any:
    from twilio.rest import Client

    client = Client("AC1", "token")
    client.api.base_url = f"{BASE}/twilio"
    return client.messages.create(to="+1", from_="+2", body="hi").sid


def google() -> Any:
    import httplib2
    from googleapiclient.discovery import build_from_document

    parameter = {"type": "string", "required": True, "location": "path"}
    method = {
        "id": "t.get",
        "path": "google/{id}",
        "httpMethod": "GET",
        "parameters": {"id": parameter},
        "parameterOrder": ["id"],
    }
    document = {
        "name": "t",
        "version": "v1",
        "rootUrl": f"{BASE}/",
        "servicePath": "",
        "resources": {"things": {"methods": {"get": method}}},
    }
    service = build_from_document(document, http=httplib2.Http())
    return service.things().get(id="1").execute()


def sentry() -> Any:
    import sentry_sdk

    sent: list[Any] = []

    def keep(event: Any, _: Any) -> Any:
        sent.append(event["message"])
        return event

    sentry_sdk.init(dsn=f"{BASE.replace('//', '//key@')}/1", before_send=keep)
    sentry_sdk.capture_message("hi")
    sentry_sdk.flush(10)
    return sent


def algolia() -> Any:
    from algoliasearch.http.hosts import CallType, Host, HostsCollection
    from algoliasearch.search.client import SearchClientSync
    from algoliasearch.search.config import SearchConfig

    config = SearchConfig("app", "key")
    both = CallType.READ | CallType.WRITE
    host = Host(f"127.0.0.1:{PORT}/algolia", scheme="http", accept=both)
    config.hosts = HostsCollection([host])
    with SearchClientSync(config=config) as client:
        return json.loads(client.list_indices().to_json())


def boto3() -> Any:
    import boto3 as sdk
    from botocore.config import Config

    client = sdk.client(
        "s3",
        endpoint_url=f"{BASE}/s3",
        region_name="eu-central-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
    )
    put = client.put_object(Bucket="b", Key="k", Body=b"content")
    got = client.get_object(Bucket="b", Key="k")
    return [put["ETag"], got["Body"].read().decode()]


def requests_retrying() -> Any:
    import requests
    from urllib3 import Retry

    with requests.Session() as session:
        retry = Retry(connect=2, read=0, backoff_factor=0.01)
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
        return session.get(f"{BASE}/plain", timeout=20).text


def requests_tenacity() -> Any:
    import requests
    import tenacity

    seen: list[int] = []

    @tenacity.retry(
        stop=tenacity.stop_after_attempt(3),
        retry=tenacity.retry_if_exception_type(requests.ConnectionError),
    )
    def get() -> str:
        seen.append(1)
        return requests.get(f"{BASE}/plain", timeout=20).text

    try:
        return [get(), len(seen)]
    except tenacity.RetryError as error:
        raise RuntimeError(f"after {len(seen)}") from error.last_attempt.exception()


def httpx_http2() -> Any:
    import httpx

    with httpx.Client(http2=True) as client:
        return client.get(f"{BASE}/plain").text


def httpx_async() -> Any:
    import httpx

    async def call() -> list[str]:
        async with httpx.AsyncClient() as client:
            answers = await asyncio.gather(*(client.get(f"{BASE}/plain") for _ in range(3)))
            return [answer.text for answer in answers]

    return asyncio.run(call())


SERVICES = {
    name: call
    for name, call in list(globals().items())
    if callable(call) and getattr(call, "__module__", "") == __name__
}


def causes(error: BaseException) -> list[str]:
    """Name an error and what caused it, down to the one that the system made."""
    names: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(names) < 9:
        names.append(type(seen).__name__)
        seen = seen.__cause__ or seen.__context__
    return names


def outcome(name: str) -> dict[str, Any]:
    try:
        return {"value": SERVICES[name]()}
    except Exception as error:  # noqa: BLE001 - what the client raises is the result
        return {"error": causes(error)[0], "text": f"{error}"[:300], "causes": causes(error)}


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(outcome(line.strip()), default=str) + "\n")
        sys.stdout.flush()
