"""Strict mode, and routes with conditions on more than the URL."""

from msgspec import UNSET, structs

from tests.core.strict.case import URL, A, StrictCase, messages
from tests.support.builders import glob, start
from trafficmock.core.effects import Effects
from trafficmock.matching.allow_list import MOST_PATTERNS
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fallback
from trafficmock.wire.payloads.serialized_matcher import SerializedCondition, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

KEY = [SerializedCondition("header", ["X-Key"], equals="1")]
SKU = [SerializedCondition("json", ["sku"], equals="teapot")]


class ConditionTests(StrictCase):
    """Which part of a refused request differs."""

    def test_nearest(self) -> None:
        """The error names the field of the nearest route."""
        self.registers()
        for number, (condition, said) in enumerate(
            (
                (
                    SerializedCondition("header", ["X-Key"], equals="1"),
                    'header x-key is missing, wanted "1"',
                ),
                (SerializedCondition("json", ["a"]), "json.a: there is no body"),
                (SerializedCondition("query", ["q"]), "query.q is missing, wanted any value"),
            )
        ):
            self.routes(structs.replace(glob(URL), conditions=[condition]), f"route {number}")
            self.assertIn(said, self.refused(self.asks(request_id=f"r{number}")))

    def test_after_the_method(self) -> None:
        """What differs comes in the order of the matcher; a predicate was asked about the rest."""
        for first, differs in (
            (SerializedMatcher(methods=["GET"]), "method"),
            (glob(URL), "condition"),
        ):
            self.registers()
            self.routes(structs.replace(first, conditions=KEY))
            nearest = self.detail(self.asks()).nearest
            assert nearest is not UNSET
            self.assertEqual(nearest.differs, differs)
            self.worker.sends(inbound.TestUnregister("buys"))
            self.playbook.take()


class AllowedTests(StrictCase):
    """Requests that strict mode allows by more than their URL."""

    def allows(
        self, *conditions: SerializedCondition, url: str = "https://api.test/**", method: str = ""
    ) -> None:
        methods = [method] if method else UNSET
        matcher = structs.replace(glob(url), conditions=list(conditions) or UNSET, methods=methods)
        self.registers(allow=["auth.test", matcher])

    def sends(
        self, content: bytes | None, *, pending: bool = False, key: str = "", url: str = URL
    ) -> Effects:
        """Let an application send a request; if it is pending, its body does not come with it."""
        message = start("r1", url, "shop")
        request = structs.replace(
            message.request,
            method="POST",
            headers={"X-Key": key} if key else {},
            body_base64=body.NULL if content is None else body.from_bytes(content),
        )
        announced = structs.replace(
            message, request=request, context=A, body_pending=pending or UNSET
        )
        self.agent.sends(announced)
        return self.playbook.take()

    def setUp(self) -> None:
        super().setUp()
        self.agent = self.playbook.agent("shop", features=("context", "stream", "strict"))

    def test_head(self) -> None:
        """The query or a header decides, without the body."""
        self.allows(*KEY)
        self.assert_passed(self.sends(None, pending=True, key="1"))

    def test_other_head(self) -> None:
        """A request that fails such a condition is refused; the text says what is allowed."""
        self.allows(*KEY, method="post")
        text = self.refused(self.sends(None, pending=True, key="2"))
        self.assertIn('only auth.test, post "https://api.test/**" with conditions.', text)

    def test_body(self) -> None:
        """A body that decides is asked for, and lets the request pass or not."""
        self.allows(*SKU)
        for content, passes in ((b'{"sku": "teapot"}', True), (b'{"sku": "pot"}', False)):
            sent = messages(self.sends(None, pending=True), self.agent)
            self.assertEqual(sent, [outbound.NeedBody("r1")])
            self.agent.sends(inbound.RequestBody("r1", body.from_bytes(content)))
            effects = self.playbook.take()
            if passes:
                self.assert_passed(effects)
                self.agent.sends(inbound.RequestResponse("r1", ok=False))
                self.playbook.take()
            else:
                self.refused(effects)

    def test_body_at_once(self) -> None:
        """So does a body that comes with the request."""
        self.allows(*SKU)
        self.assert_passed(self.sends(b'{"sku": "teapot"}'))

    def test_no_body_needed(self) -> None:
        """A body is not waited for where the URL or the head decides already."""
        self.allows(*SKU, *KEY)
        for url in (URL, "https://other.test/"):
            self.refused(self.sends(None, pending=True, url=url))
        self.assert_passed(self.sends(None, pending=True, url="https://auth.test/"))

    def test_method(self) -> None:
        """A matcher without conditions, and a WebSocket, which has no body."""
        self.allows(url="wss://api.test/**")
        allowed = self.opens("wss://api.test/a")
        sent = messages(allowed, self.agent)
        self.assertNotIn("ws:error", [type(each).__struct_config__.tag for each in sent])

    def test_conditions_on_a_socket(self) -> None:
        """A WebSocket meets no condition."""
        self.allows(*KEY, url="wss://api.test/**")
        self.refused(self.opens("wss://api.test/a"))

    def test_user_in_url(self) -> None:
        """A name and password before the host do not stand for a part of it."""
        self.allows(*KEY, url="https://*.test/**")
        self.refused(self.sends(b"", key="1", url="https://a@evil.example/b.test/"))

    def test_changed(self) -> None:
        """A request that a handler changed and gave back is compared as it would be sent."""
        self.allows(*KEY)
        self.routes(URL)
        (run,) = messages(self.sends(b"", key="2"), self.worker)[-1:]
        assert isinstance(run, outbound.HandlerRun), run
        result = inbound.HandlerResult(
            "r1",
            Fallback(SerializedOverrides(headers={"X-Key": "1"})),
            run.run_id,
        )
        self.worker.sends(result)
        effects = self.playbook.take()
        self.assertIn(
            "decision:continue",
            [type(each).__struct_config__.tag for each in messages(effects, self.agent)],
        )

    def test_invalid(self) -> None:
        """A matcher that only the worker can compare, and one too many, are errors."""
        for allow, text in (
            ([SerializedMatcher(predicate=True)], "cannot compare"),
            ([glob("/relative")], '"/relative"'),
            ([glob("**/a")] * (MOST_PATTERNS + 1), "one too many"),
        ):
            self.worker.sends(
                inbound.TestRegister("t", "t", "f", "0", strict=inbound.Strict(list(allow)))
            )
            (error,) = self.told(self.playbook.take())
            self.assertEqual(error.code, "invalid_message")
            self.assertIn(text, error.message)
