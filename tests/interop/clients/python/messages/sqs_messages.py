"""Messages of SQS and SNS, by the clients and the resources of boto3.

Run as a program, it handles them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import boto3

from tests.interop.clients.python.messages import asking

LIMIT = {str(number): {"DataType": "String", "StringValue": "x"} for number in range(10)}
"""As many attributes as a message may have."""

client = boto3.client("sqs")
sns = boto3.client("sns")
urls = {
    name: client.create_queue(QueueName=name)["QueueUrl"]
    for name in ("read", "indexed", "read-as-objects", "indexed-objects")
}
topic = boto3.resource("sns").create_topic(Name="topic")
objects = boto3.resource("sqs").Queue(urls["read-as-objects"])
indexed_objects = boto3.resource("sqs").Queue(urls["indexed-objects"])
for name in ("read", "read-as-objects"):
    arn = client.get_queue_attributes(QueueUrl=urls[name], AttributeNames=["QueueArn"])
    arn = arn["Attributes"]["QueueArn"]
    rule = {"FilterPolicy": json.dumps({"to": [name]})}
    sns.subscribe(TopicArn=topic.arn, Protocol="sqs", Endpoint=arn, Attributes=rule)


def text(way: str, who: str) -> str:
    return json.dumps({"way": way, "who": who})


def send(queue: str, way: str, who: str, **options: Any) -> None:
    client.send_message(QueueUrl=urls[queue], MessageBody=text(way, who), **options)


def to(queue: str) -> Any:
    return {"to": {"DataType": "String", "StringValue": queue}}


WAYS: dict[str, Callable[[str, str], Any]] = {
    "send_message": lambda *given: send("read", *given),
    "send_message_batch": lambda *given: client.send_message_batch(
        QueueUrl=urls["read"], Entries=[{"Id": "1", "MessageBody": text(*given)}]
    ),
    "publish": lambda *given: sns.publish(
        TopicArn=topic.arn, Message=text(*given), MessageAttributes=to("read")
    ),
    "ten attributes": lambda *given: send("read", *given, MessageAttributes=LIMIT),
    "by index": lambda *given: send("indexed", *given),
    "Queue.send_message": lambda *given: objects.send_message(MessageBody=text(*given)),
    "Queue.send_messages": lambda *given: objects.send_messages(
        Entries=[{"Id": "1", "MessageBody": text(*given)}]
    ),
    "Topic.publish": lambda *given: topic.publish(
        Message=text(*given), MessageAttributes=to("read-as-objects")
    ),
    "object by index": lambda *given: indexed_objects.send_message(MessageBody=text(*given)),
}


def handle(body: str) -> None:
    found = json.loads(body)
    asking.ask(**json.loads(found.get("Message", body)))


def read() -> None:
    """Handle messages in a loop over them."""
    url = urls["read"]
    while True:
        answer = client.receive_message(QueueUrl=url, WaitTimeSeconds=1, MaxNumberOfMessages=10)
        for message in answer.get("Messages", []):
            client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            handle(message["Body"])


def read_first() -> None:
    """Handle messages that are taken by their index."""
    url = urls["indexed"]
    while True:
        found = client.receive_message(QueueUrl=url, WaitTimeSeconds=1).get("Messages", [])
        if found:
            client.delete_message(QueueUrl=url, ReceiptHandle=found[0]["ReceiptHandle"])
            handle(found[0]["Body"])


def read_objects() -> None:
    """Do the same as :func:`read` with resources."""
    while True:
        for message in objects.receive_messages(WaitTimeSeconds=1, MaxNumberOfMessages=10):
            message.delete()
            handle(message.body)


def read_first_object() -> None:
    """Do the same as :func:`read_first` with resources."""
    while True:
        found = indexed_objects.receive_messages(WaitTimeSeconds=1)
        if found:
            found[0].delete()
            handle(found[0].body)


if __name__ == "__main__":
    for reader in (read, read_first, read_objects, read_first_object):
        threading.Thread(target=reader).start()
