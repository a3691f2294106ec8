import { json, lines } from "./reply.mjs";
import { shown } from "./shown.mjs";

const ISSUE = (number) => ({ id: number, number, title: `issue ${number}` });
const CHARGE = { id: "ch_1", object: "charge", amount: 100, currency: "eur" };
const COMPLETION = {
  id: "c_1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
};
const MESSAGE = {
  id: "m_1",
  type: "message",
  role: "assistant",
  model: "any",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const chunk = (content) =>
  `data: ${JSON.stringify({ id: "c_1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const MESSAGE_EVENTS = [
  { type: "message_start", message: { ...MESSAGE, content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

const failing = (code, message) => json({ error: { code, message, type: "failed" } }, code, ["Retry-After", "0"]);

/**
 * What is like the APIs that SDKs have built in: by host, from a request to an answer, or to nothing for 404.
 * @type {Record<string, (request: any, query: URLSearchParams, count: (key: string) => number) => any>}
 */
export const APIS = {
  "api.stripe.com": ({ method, url, body }, query, count) => {
    if (url.includes("flaky")) return count(url) > 1 ? json({ ...CHARGE, id: "flaky" }) : failing(503, "try again");
    if (url.includes("declined")) {
      return json({ error: { type: "card_error", code: "card_declined", message: "declined" } }, 402, [
        "Request-Id",
        "req_1",
      ]);
    }
    if (method === "GET" && url.startsWith("/v1/charges?")) {
      const after = query.get("starting_after");
      return json({
        object: "list",
        url: "/v1/charges",
        has_more: !after,
        data: [{ ...CHARGE, id: after ? "ch_2" : "ch_1" }],
      });
    }
    return json({ ...CHARGE, sent: shown(body) }, 200, ["Request-Id", "req_1"]);
  },
  "files.stripe.com": ({ body }) => json({ id: "file_1", object: "file", size: body.length }),
  "api.openai.com": ({ url, body }, _, count) => {
    if (body.includes("flaky")) return count("openai") > 1 ? json(COMPLETION) : failing(429, "slow down");
    if (body.includes('"stream":true')) return lines([chunk("Hel"), chunk("lo"), "data: [DONE]\n\n"]);
    if (url.endsWith("/files")) return json({ id: "file_1", object: "file", bytes: body.length });
    if (url.endsWith("/nothing")) return undefined;
    if (url.endsWith("/models")) return json({ object: "list", data: [{ id: "any" }] });
    return json(COMPLETION);
  },
  "api.anthropic.com": ({ body }, _, count) => {
    if (body.includes("flaky")) return count("anthropic") > 1 ? json(MESSAGE) : failing(529, "overloaded");
    if (body.includes("wrong")) {
      return json({ type: "error", error: { type: "invalid_request_error", message: "wrong" } }, 400);
    }
    return body.includes('"stream":true') ? lines(MESSAGE_EVENTS.map(event)) : json(MESSAGE);
  },
  "api.github.com": ({ url, body }, query) => {
    if (url === "/graphql") return json({ data: { viewer: { login: "me" } } });
    if (url.startsWith("/repos/o/missing")) return undefined;
    const page = Number(query.get("page") ?? 1);
    const next = page < 3 ? [["Link", `<https://api.github.com/repos/o/r/issues?page=${page + 1}>; rel="next"`]] : [];
    return url.includes("/issues") && !body.length ? json([ISSUE(page)], 200, ...next) : json(ISSUE(9), 201);
  },
  "slack.com": ({ url, body }, _, count) => {
    if (body.includes("flaky") && count("slack") < 2) return failing(429, "slow down");
    return url.includes("auth.test")
      ? json({ ok: false, error: "invalid_auth" })
      : json({ ok: true, channel: "C1", ts: "1.1" });
  },
  "api.twilio.com": ({ method, url, body }) =>
    url.includes("missing")
      ? json({ code: 20404, message: "not found", status: 404 }, 404)
      : json(
          method === "GET"
            ? { messages: [{ sid: "SM1", body: "hi" }], page: 0, page_size: 50 }
            : { sid: "SM1", sent: shown(body) },
          method === "GET" ? 200 : 201,
        ),
  "api.sendgrid.com": ({ body }) =>
    body.includes("nobody") ? json({ errors: [{ message: "no such recipient" }] }, 401) : json({}, 202),
  "www.googleapis.com": ({ url, method, body }) => {
    if (url.includes("/missing")) {
      return json({ error: { code: 404, message: "File not found", errors: [{ reason: "notFound" }] } }, 404);
    }
    if (url.includes("alt=media")) return lines(["the content"], "text/plain");
    return json(method === "GET" ? { files: [{ id: "1", name: "a" }] } : { id: "2", size: body.length });
  },
  "bucket.s3.eu-west-1.amazonaws.com": ({ method, url, body }) => {
    if (url.includes("missing")) return xml("<Error><Code>NoSuchKey</Code><Message>none</Message></Error>", 404);
    if (url.includes("list-type=2")) {
      return xml(
        "<ListBucketResult><Name>bucket</Name><KeyCount>1</KeyCount><Contents><Key>a</Key><Size>3</Size></Contents></ListBucketResult>",
      );
    }
    if (method === "PUT") return { ...json({}), headers: [["ETag", `"${body.length}"`]], body: "" };
    if (method === "DELETE") return { ...json({}, 204), headers: [], body: "" };
    return lines(["the object"], "text/plain");
  },
};

const xml = (text, status = 200) => ({
  ...json({}, status),
  headers: [["Content-Type", "application/xml"]],
  body: `<?xml version="1.0"?>${text}`,
});
