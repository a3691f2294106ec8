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
const chunk = (content, more = {}) =>
  `data: ${JSON.stringify({ id: "c_1", object: "chat.completion.chunk", ...more, choices: [{ index: 0, delta: { content }, ...(more.model && { finish_reason: null }) }] })}\n\n`;
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

const MODEL = { model: "any", created: 1 };
const QUEUED = { MessageId: "m_1", MD5OfMessageBody: "49f68a5c8493ec2c0bf489821c21fc3b" };
const ROW = { fields: [{ name: "id", dataTypeID: 23, type: "INT32" }], rows: [["1"]], rowCount: 1, command: "SELECT" };
const PLANET = { session: {}, result: { fields: ROW.fields, rows: [{ lengths: ["1"], values: "MQ==" }] }, timing: 1 };
const SEARCHED = { took: 1, timed_out: false, hits: { total: { value: 1 }, hits: [{ _id: "1", _source: { a: 1 } }] } };
const GENERATED = { candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }] };
const CONVERSED = {
  output: { message: { role: "assistant", content: [{ text: "Hello" }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
};
const WSDL = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:t="urn:shop" xmlns:x="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:shop">
  <message name="In"><part name="id" type="x:string"/></message><message name="Out"><part name="price" type="x:int"/></message>
  <portType name="P"><operation name="Price"><input message="t:In"/><output message="t:Out"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Price"><soap:operation soapAction="price"/><input><soap:body use="literal" namespace="urn:shop"/></input>
      <output><soap:body use="literal" namespace="urn:shop"/></output></operation></binding>
  <service name="S"><port name="P" binding="t:B"><soap:address location="http://vendor.test/soap"/></port></service>
</definitions>`;
const PRICE = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
  <t:PriceResponse xmlns:t="urn:shop"><price>3</price></t:PriceResponse></s:Body></s:Envelope>`;

/**
 * What is like the APIs of many vendors, by the beginning of the path.
 * @type {Record<string, (request: any, query: URLSearchParams, count: (key: string) => number) => any>}
 */
const VENDOR_PATHS = {
  "/elastic": ({ url }) =>
    json(url.includes("_bulk") ? { errors: false, items: [] } : SEARCHED, 200, ["X-Elastic-Product", "Elasticsearch"]),
  "/psdb": () => json(PLANET),
  "/upstash": ({ body }) => {
    const asked = JSON.parse(String(body));
    return json(Array.isArray(asked[0]) ? asked.map(([name]) => ({ result: name })) : { result: asked[0] });
  },
  "/chat/completions": ({ body }) =>
    body.includes('"stream":true') ? lines([chunk("Hel"), chunk("lo"), "data: [DONE]\n\n"]) : json(COMPLETION),
  "/v1/chat/completions": ({ body }) =>
    body.includes('"stream":true')
      ? lines([chunk("Hel", MODEL), chunk("lo", MODEL), "data: [DONE]\n\n"])
      : json({
          ...COMPLETION,
          model: "any",
          created: 1,
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
  "/v1beta": ({ url }) =>
    url.includes("stream") ? lines([`data: ${JSON.stringify(GENERATED)}\n\n`]) : json(GENERATED),
  "/model": () => json(CONVERSED),
  "/predictions": () => json({ id: "p_1", status: "succeeded", output: ["Hel", "lo"] }, 201),
  "/transactions": () => json({ accounts: [], transactions: [], request_id: "r_1" }),
  "/v2/payments": () => json({ payment: { id: "pay_1", status: "COMPLETED" } }),
  "/bot1": ({ url }, _, count) =>
    count("telegram") === 1
      ? json({ ok: false, error_code: 429, description: "slow", parameters: { retry_after: 0 } }, 429)
      : json({ ok: true, result: { message_id: url.length, date: 1, chat: { id: 1, type: "private" } } }),
  "/discord": ({ body }, _, count) =>
    body.includes("flaky") && count("discord") === 1
      ? json({ message: "slow", retry_after: 0.01, global: false }, 429, ["Retry-After", "0.01"], ["Via", "1.1 any"])
      : json({ id: "1", content: "hi" }),
  "/v1/pages": () => json({ object: "page", id: "1" }),
  "/token": () => json({ access_token: "at_1", refresh_token: "rt_1", token_type: "Bearer" }),
  "/upload": ({ body }) => json({ name: "a.txt", size: String(body.length) }),
  "/storage": ({ url }) =>
    url.includes("alt=media") ? lines(["the content"], "text/plain") : json({ kind: "storage#objects", items: [] }),
  "/api/v1/namespaces": () => json({ kind: "PodList", apiVersion: "v1", metadata: {}, items: [] }),
  "/api/v1/watch": () =>
    lines(['{"type":"ADDED","object":{}}\n', '{"type":"DELETED","object":{}}\n'], "application/json"),
  "/soap?wsdl": () => xml(WSDL),
  "/soap": () => xml(PRICE),
};

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
  "api.vendor.test": () => json(ROW),
  "vendor.test": (request, query, count) => {
    const path = Object.keys(VENDOR_PATHS).find((each) => request.url.startsWith(each));
    return path ? VENDOR_PATHS[path](request, query, count) : json({ id: "1", sent: shown(request.body) });
  },
  "api.resend.com": ({ url }) =>
    url === "/emails" ? json({ id: "e_1" }) : json({ name: "not_found", message: "no" }, 404),
  "api.postmarkapp.com": () => json({ To: "a@shop.test", MessageID: "m_1", ErrorCode: 0, Message: "OK" }),
  "dynamodb.eu-west-1.amazonaws.com": () => json({ Item: { id: { S: "1" } } }),
  "sqs.eu-west-1.amazonaws.com": () => json(QUEUED),
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
