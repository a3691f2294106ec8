"""The libraries: the program of each, and what it needs."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from attrs import field, frozen

from tests.agent.test_deep import node as deep_node
from tests.interop.clients.node.modes import ATTACHED
from tests.support.processes.node_parts import module_file
from tests.support.processes.node_parts import node_binary as node_22
from tests.support.processes.npm_packages import install

PLACE = Path(__file__).parent
DEEP = PLACE / "deep"
AGENTS = PLACE / "agents"
VENDORS = PLACE / "vendors"
ROOMS = (
    "programs",
    "agents",
    "vendors",
    "deep/http",
    "deep/services",
    "deep/sockets",
    "deep/runners",
)
"""The directories of the programs."""
NODES = (20, 22, 24, 26)
HOSTS = (
    *("api.shop.test", "shop.test", "other.test"),
    # Those that SDKs have built in (``lib/apis.mjs``).
    *(
        "api.stripe.com",
        "api.openai.com",
        "api.anthropic.com",
        "api.github.com",
        "slack.com",
        "files.stripe.com",
    ),
    *("api.twilio.com", "api.sendgrid.com", "www.googleapis.com"),
    *("vendor.test", "api.vendor.test", "api.resend.com", "api.postmarkapp.com"),
    *(f"{name}.eu-west-1.amazonaws.com" for name in ("bucket.s3", "dynamodb", "sqs")),
)
"""The names of the server."""


@frozen(eq=False)
class Library:
    """
    A library of the table.

    :param name: of its program, and its id at the proxy.
    :param package: the folder of ``node_modules`` that it is installed in.
    :param title: how the table calls it.
    :param deep: whether only the deep run has it.
    :param nodes: the versions of Node that it supports.
    :param arguments: for Node, before the program.
    :param preloads: further ``NODE_OPTIONS``.
    :param modes: in which it is run under the agent.
    """

    name: str
    package: str
    title: str = ""
    deep: bool = True
    nodes: tuple[int, ...] = NODES
    arguments: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()
    modes: tuple[str, ...] = ATTACHED
    environment: dict[str, str] = field(factory=dict)

    @property
    def program(self) -> Path:
        """Its program."""
        return next(file for room in ROOMS for file in (PLACE / room).glob(f"{self.name}.mjs"))

    @property
    def folder(self) -> Path:
        """Where its npm packages are."""
        rooms = (DEEP, AGENTS, VENDORS)
        return next((each for each in rooms if self.program.is_relative_to(each)), PLACE)

    def version(self) -> str:
        """Read which version is installed; Node's own parts have none."""
        if not self.package:
            return ""
        file = self.folder / "node_modules" / self.package / "package.json"
        if not file.exists():
            return "not installed"
        version: str = json.loads(file.read_text(encoding="utf-8"))["version"]
        return version


LIBRARIES = (
    Library("fetch", "", "`fetch` of Node", deep=False),
    Library("axios", "axios", "axios"),
    Library("got", "got", "got"),
    Library("node-fetch", "node-fetch", "node-fetch 3"),
    Library("node-fetch2", "node-fetch2", "node-fetch 2"),
    Library("superagent", "superagent", "superagent"),
    Library("undici7", "undici7", "undici 7"),
    Library("undici6", "undici6", "undici 6"),
    Library("undici8", "undici8", "undici 8", nodes=(22, 24, 26)),
    Library("ky", "ky", "ky"),
    Library("ofetch", "ofetch", "ofetch"),
    Library("needle", "needle", "needle"),
    Library("stripe", "stripe", "Stripe"),
    Library("openai", "openai", "OpenAI"),
    Library("anthropic", "@anthropic-ai/sdk", "Anthropic"),
    Library("s3", "@aws-sdk/client-s3", "AWS S3"),
    Library("googleapis", "@googleapis/drive", "googleapis (Drive)"),
    Library("slack", "@slack/web-api", "Slack"),
    Library("twilio", "twilio", "Twilio"),
    Library("sendgrid", "@sendgrid/mail", "SendGrid"),
    Library("octokit", "octokit", "Octokit"),
    Library("supabase", "@supabase/supabase-js", "Supabase"),
    Library("apollo", "@apollo/client", "Apollo Client"),
    Library("graphql-request", "graphql-request", "graphql-request"),
    Library("node-http", "", "`node:http`, threads"),
    Library(
        "proxy-agents",
        "https-proxy-agent7",
        "Proxy agents, by bytes",
        deep=False,
        modes=("passthrough", "fallback"),
    ),
    Library(
        "agent-modes",
        "https-proxy-agent9",
        "Agents of libraries",
        modes=("passthrough", "mock", "continue", "fetch"),
    ),
    Library(
        "agent-bytes",
        "https-proxy-agent9",
        "Agents of libraries, by bytes",
        modes=("passthrough", "fallback"),
    ),
    Library("older-clients", "request", "request, cross-fetch, soap, passport-oauth2"),
    Library("mail", "resend", "Mailgun, Postmark, Resend"),
    Library("databases", "@elastic/elasticsearch", "Elasticsearch, Neon, PlanetScale, Upstash"),
    Library("models", "ai", "AI SDK, LangChain, Google, Mistral, Replicate"),
    Library("payments", "plaid", "Plaid, Square"),
    Library("messengers", "@discordjs/rest", "Discord, Telegraf, Notion"),
    Library("clouds", "@google-cloud/storage", "Google Storage, DynamoDB, SQS, Bedrock"),
    Library("kubernetes", "@kubernetes/client-node", "Kubernetes", nodes=(22, 24, 26)),
    Library("ws", "ws", "ws"),
    Library("socket.io", "socket.io", "socket.io"),
    Library("grpc", "@grpc/grpc-js", "gRPC"),
    Library("tsx", "tsx", "tsx", arguments=("--import", "tsx")),
    Library("tsx-watch", "tsx", "tsx watch"),
    Library("nodemon", "nodemon", "nodemon"),
    Library("jest", "jest", "Jest"),
    Library("vitest", "vitest", "Vitest"),
    Library("next-dev", "next", "Next.js, `next dev`"),
    Library(
        "opentelemetry",
        "@opentelemetry/auto-instrumentations-node",
        "OpenTelemetry, preloaded",
        preloads=("--require @opentelemetry/auto-instrumentations-node/register",),
        environment={
            **dict.fromkeys(("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER"), "none"),
            "OTEL_LOGS_EXPORTER": "none",
            "OTEL_NODE_RESOURCE_DETECTORS": "none",
        },
    ),
)


def machine_node() -> int:
    """Say which major version the Node on the path has."""
    answer = subprocess.check_output([shutil.which("node") or "node", "--version"], text=True)
    return int(answer.removeprefix("v").partition(".")[0])


@cache
def node_binary(major: int) -> str:
    """
    Find a Node of this version.

    :raises LookupError: there is none.
    """
    if machine_node() == major:
        return shutil.which("node") or "node"
    if major == 22:
        return str(node_22())
    if major == 24:
        return str(module_file("node-24/bin/node"))
    if major in NODES:
        return deep_node(f"node{major}")
    raise LookupError(f"there is no Node {major} here")


def prepare(libraries: Iterable[Library], nodes: Iterable[int]) -> None:
    """
    Bring the npm packages of libraries, and the Nodes, that are not here yet.

    :param nodes: major versions.
    :raises subprocess.CalledProcessError: npm could not install them.
    """
    for folder in dict.fromkeys(library.folder for library in libraries):
        install(folder)
    for major in nodes:
        node_binary(major)
