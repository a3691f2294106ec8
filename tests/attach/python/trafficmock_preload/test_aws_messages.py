"""Messages of SQS and SNS, with a class that stands for the client of botocore."""

from __future__ import annotations

import gc
import json
from base64 import b64decode
from threading import Thread, current_thread
from types import ModuleType, SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.entries import aws_messages
from trafficmock_preload.sending_code import RECEIVES, coded
from twisted.trial.unittest import SynchronousTestCase

MEMBER = "trafficmock.test=a"
ATTRIBUTE = {"DataType": "String", "StringValue": MEMBER}
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["MessageAttributes", "baggage", "Value"]), inner)
    ),
    max_leaves=8,
)


def client_class(contexts: TestContexts, answer: Any = None) -> Any:
    class BaseClient:
        def __init__(self, service: str) -> None:
            self.meta = SimpleNamespace(service_model=SimpleNamespace(service_name=service))

        def _make_api_call(self, _operation: str, given: Any) -> Any:
            return {"given": given} if answer is None else {**answer, "given": given}

    module = ModuleType("botocore.client")
    module.__dict__["BaseClient"] = BaseClient
    aws_messages.change_botocore(module, contexts)
    return BaseClient


class AwsCase(SynchronousTestCase):
    """Has contexts of its own."""

    def setUp(self) -> None:
        self.contexts = TestContexts(30)
        self.contexts.do_tests_run = lambda: True
        self.addCleanup(self.contexts.enter, None)
        self.addCleanup(current_thread().__dict__.pop, RECEIVES, None)

    def enter(self) -> None:
        self.contexts.enter(self.contexts.read(MEMBER, None, None))

    def current(self) -> str | None:
        found = self.contexts.current()
        return None if found is None else found.id


class Handler:
    """Makes objects of messages, as boto3 does."""

    def __call__(self, _parent: Any, _params: Any, response: Any) -> Any:
        messages = response["Messages"]
        return [messages[at]["Body"] for at in range(len(messages))]


class SentTests(AwsCase):
    """What is sent."""

    def sent(self, operation: str, given: Any, service: str = "sqs") -> Any:
        client = client_class(self.contexts)(service)
        return client._make_api_call(operation, given)["given"]

    def test_without_context(self) -> None:
        """Nothing is changed without a context, or in other services and calls."""
        self.assertEqual(self.sent("SendMessage", {"MessageBody": "x"}), {"MessageBody": "x"})
        self.enter()
        for operation, service in (("SendMessage", "ses"), ("CreateQueue", "sqs")):
            self.assertEqual(
                self.sent(operation, {"MessageBody": "x"}, service), {"MessageBody": "x"}
            )

    def test_attribute(self) -> None:
        """The context is an attribute, beside others and the application's baggage."""
        self.enter()
        wanted = {"MessageBody": "x", "MessageAttributes": {"baggage": ATTRIBUTE}}
        self.assertEqual(self.sent("SendMessage", {"MessageBody": "x"}), wanted)
        batch = self.sent("PublishBatch", {"PublishBatchRequestEntries": [{"Message": "x"}]}, "sns")
        (entry,) = batch["PublishBatchRequestEntries"]
        self.assertEqual(entry["MessageAttributes"], {"baggage": ATTRIBUTE})
        given = {"MessageAttributes": {"baggage": {**ATTRIBUTE, "StringValue": "user=7"}}}
        merged = self.sent("SendMessage", given)["MessageAttributes"]["baggage"]
        self.assertEqual(merged["StringValue"], f"user=7,{MEMBER}")

    def test_limits(self) -> None:
        """A message without a place for it is sent as it is."""
        self.enter()
        binary = {"DataType": "Binary", "BinaryValue": b"x"}
        for message in (
            {"MessageAttributes": {str(number): ATTRIBUTE for number in range(10)}},
            {"MessageAttributes": {"baggage": binary}},
            {"MessageAttributes": 7},
            {"MessageBody": "x" * (256 * 1024 - 20)},
            {"MessageAttributes": {"baggage": ATTRIBUTE}},
        ):
            self.assertEqual(self.sent("SendMessage", message), message)
        self.assertEqual(self.sent("SendMessageBatch", {"Entries": 7}), {"Entries": 7})


class ReceivedTests(AwsCase):
    """What is received."""

    def received(self, messages: Any, given: Any = None) -> Any:
        client = client_class(self.contexts, {"Messages": messages})("sqs")
        return client._make_api_call("ReceiveMessage", {} if given is None else given)

    def test_loop(self) -> None:
        """A message is handled in its context, and the code behind the loop in its own."""
        body = json.dumps({"MessageAttributes": {"baggage": {"Value": "trafficmock.test=b"}}})
        messages = [
            {"MessageAttributes": {"baggage": ATTRIBUTE}, "MD5OfMessageAttributes": "x"},
            {"Body": "x"},
            {"Body": body},
        ]
        answer = self.received(messages)
        self.assertEqual(answer["given"], {"MessageAttributeNames": ["baggage"]})
        self.assertEqual(answer["Messages"], [{}, {"Body": "x"}, {"Body": body}])
        self.assertEqual([self.current() for _ in answer["Messages"]], ["a", None, "b"])
        for _ in answer["Messages"]:
            break
        self.assertIsNone(self.current())

    def test_left_loop(self) -> None:
        """A loop that is closed late, in code of another request, leaves that its context."""
        loop = iter(self.received([{"MessageAttributes": {"baggage": ATTRIBUTE}}])["Messages"])
        next(loop)
        self.assertEqual(self.current(), "a")
        self.contexts.enter(self.contexts.read("trafficmock.test=b", None, None))
        del loop
        gc.collect()
        self.assertEqual(self.current(), "b")

    def test_objects(self) -> None:
        """So is an object that boto3 makes of a message; other results are left alone."""
        module = ModuleType("boto3.resources.response")
        module.__dict__["ResourceHandler"] = type("ResourceHandler", (Handler,), {})
        aws_messages.change_boto3_resources(module, self.contexts)
        make = module.__dict__["ResourceHandler"]()
        messages = [{"Body": "x", "MessageAttributes": {"baggage": ATTRIBUTE}}, {"Body": "y"}]
        made = make(None, {}, self.received(messages))
        self.assertEqual([(each, self.current()) for each in made], [("x", "a"), ("y", None)])
        self.assertIs(type(make(None, {}, {"Messages": messages})), list)

    def test_origin(self) -> None:
        """What a thread that takes messages by their index sends says so."""
        found: list[Any] = []

        def receive() -> None:
            self.received([{"MessageAttributes": {"baggage": ATTRIBUTE}}])["Messages"][0]
            found.append(json.loads(b64decode(coded(None, None))))

        thread = Thread(target=receive)
        thread.start()
        thread.join()
        self.assertEqual((found[0]["kind"], found[0]["name"]), ("receiver", "SQS"))

    def test_asked(self) -> None:
        """Who asks for the attribute gets it; messages without one are a plain list."""
        asked = {"MessageAttributeNames": ["All"]}
        messages = [{"MessageAttributes": {"baggage": ATTRIBUTE}}]
        answer = self.received(messages, asked)
        self.assertEqual((answer["given"], answer["Messages"]), (asked, messages))
        self.assertIs(type(self.received([{"Body": "x"}])["Messages"]), list)

    def test_no_test(self) -> None:
        """Until a test has a context, the call is left as it is; behind it no longer."""
        self.contexts.do_tests_run = lambda: False
        self.assertEqual(self.received([])["given"], {})
        self.contexts.do_tests_run = lambda: True
        self.assertEqual(self.received([])["given"], {"MessageAttributeNames": ["baggage"]})
        self.contexts.do_tests_run = lambda: False
        self.assertEqual(self.received([])["given"], {"MessageAttributeNames": ["baggage"]})

    def test_own_test(self) -> None:
        """The same where a test runs in this process."""
        self.contexts.do_tests_run = lambda: False
        self.contexts.begin_test("a")()
        self.assertEqual(self.received([])["given"], {})
        end = self.contexts.begin_test("b")
        self.received([])
        end()
        self.assertEqual(self.received([])["given"], {"MessageAttributeNames": ["baggage"]})

    def test_deep_body(self) -> None:
        """A body that is nested too deeply for the parser has no context."""
        body = '{"a":' * 100_000 + json.dumps(MEMBER)
        answer = self.received([{"Body": body}])
        self.assertEqual(answer["Messages"], [{"Body": body}])

    @given(JSON)
    def test_bodies(self, value: Any) -> None:
        """No body of a message breaks what receives it."""
        body = json.dumps([MEMBER, value])
        for text in (body, json.dumps(value) + MEMBER, json.dumps({"MessageAttributes": value})):
            self.received([{"Body": text}])
