import { answered, deadUrl, expect, fresh, har, ours, rest, row, rows, test, until } from "../../lib/fixtures.mjs";

const decoded = (base64) => Buffer.from(base64 ?? "", "base64").toString();
const failed = ({ events }) => events.some((event) => event.kind === "upstream_error");

test("passthrough of a POST", async ({ app }) => {
  const url = fresh("echo");
  const outcome = await app.fetch(url, { method: "POST", body: "sent", headers: { "x-app": "1" } });
  expect(JSON.parse(outcome.body)).toMatchObject({ method: "POST", body: "sent" });
  const entry = await row(url, answered);
  expect(entry).toMatchObject({ action: "passthrough", outcome: { kind: "passthrough" } });
  expect(entry.testId).toBeUndefined();
  expect(decoded(entry.request.bodyBase64)).toBe("sent");
  expect(entry.outcome.response).toMatchObject({ status: 200, url });
  expect(entry.events.map((event) => event.kind)).toEqual(["observed", "passthrough", "response"]);
});

test("passthrough of a compressed body", async ({ app }) => {
  const url = fresh("gzip");
  expect((await app.fetch(url)).body).toBe("a text that was compressed");
  const { response } = (await row(url, answered)).outcome;
  expect(decoded(response.bodyBase64)).toBe("a text that was compressed");
  expect(response.headers["content-encoding"]).toBeUndefined();
});

test("passthrough of a 204", async ({ app }) => {
  const url = fresh("empty");
  expect(await app.fetch(url)).toMatchObject({ status: 204, bodyLength: 0 });
  const { response } = (await row(url, answered)).outcome;
  expect(response).toMatchObject({ status: 204, bodyBase64: null });
});

test("passthrough of several cookies is recorded", async ({ app }) => {
  const url = fresh("cookies");
  expect((await app.fetch(url)).status).toBe(200);
  const { headers } = (await row(url, answered)).outcome.response;
  expect(headers["set-cookie"]).toContain("a=1; Path=/");
  expect(headers["set-cookie"]).toContain("b=2; Path=/");
});

test("passthrough to a dead port fails the call, and history says why", async ({ app }) => {
  const url = await deadUrl();
  expect(JSON.stringify((await app.fetch(url)).error)).toContain("ECONNREFUSED");
  const entry = await row(url, failed);
  expect(entry.action).toBe("passthrough");
});

async function expectChain(url, action) {
  const hop = (id, satisfied) =>
    until(async () => (await rest(`/api/history/${id}`)).body.entry, satisfied, "the next hop");
  const linked = (entry) => answered(entry) && entry.redirectedToId !== undefined;
  const first = await row(url, linked);
  const second = await hop(first.redirectedToId, linked);
  const third = await hop(second.redirectedToId, answered);
  expect(third.redirectedToId).toBeUndefined();
  expect([second.redirectedFromId, third.redirectedFromId]).toEqual([first.id, second.id]);
  const chain = [first, second, third];
  expect(chain.map((entry) => entry.action)).toEqual([action, action, action]);
  expect(chain.map((entry) => entry.outcome.response.status)).toEqual([302, 302, 200]);
  await expectOneHarEach(chain);
  return chain;
}

async function expectOneHarEach(chain) {
  for (const entry of chain) {
    const { status, headers, body } = await har(entry.id);
    expect(status).toBe(200);
    expect(headers.get("content-disposition")).toMatch(/\.har"?$/);
    expect(body.log.entries).toHaveLength(1);
    const [only] = body.log.entries;
    expect(only.request.url).toBe(entry.request.url);
    expect(only.response.status).toBe(entry.outcome.response.status);
    expect(only.response.redirectURL).toBe(entry.outcome.response.headers.location ?? "");
  }
}

test("a redirect chain under passthrough: three linked rows, one HAR each", async ({ app }) => {
  const url = fresh("redirect/2");
  expect((await app.fetch(url)).body).toContain("end of");
  await expectChain(url, "passthrough");
});

test("a redirect chain under continue: three linked rows of one owner", async ({ app, backendMocks }) => {
  const url = fresh("redirect/2");
  await backendMocks.route(url, (route) => route.continue());
  expect((await app.fetch(url)).body).toContain("end of");
  const chain = await expectChain(url, "continue");
  expect(new Set(chain.map((entry) => entry.testId)).size).toBe(1);
  expect(chain[0].title).toContain("a redirect chain under continue");
});

test("a redirect after POST becomes a GET, with 307 it stays a POST", async ({ app }) => {
  const [seeOther, temporary] = [fresh("redirect/1", "?status=303"), fresh("redirect/1", "?status=307")];
  for (const url of [seeOther, temporary]) await app.fetch(url, { method: "POST", body: "kept?" });
  const next = async (url) => {
    const { redirectedToId } = await row(url, (entry) => entry.redirectedToId !== undefined);
    return (await rest(`/api/history/${redirectedToId}`)).body.entry.request;
  };
  expect(await next(seeOther)).toMatchObject({ method: "GET", bodyBase64: null });
  const kept = await next(temporary);
  expect([kept.method, decoded(kept.bodyBase64)]).toEqual(["POST", "kept?"]);
});

async function redirectToDeadPort(app) {
  const dead = await deadUrl();
  const url = fresh("redirect-to", `?url=${encodeURIComponent(dead)}`);
  expect(JSON.stringify((await app.fetch(url)).error)).toContain("ECONNREFUSED");
  return { url, dead };
}

test("a redirect to a dead port fails the app's call and leaves two linked rows", async ({ app }) => {
  const { url, dead } = await redirectToDeadPort(app);
  const first = await row(url, (entry) => entry.redirectedToId !== undefined);
  const [second] = await rows(dead);
  expect(second.redirectedFromId).toBe(first.id);
});

test("a redirect to a dead port: the failing hop has the error", async ({ app }) => {
  ours("reports the failure on the first hop");
  const { url, dead } = await redirectToDeadPort(app);
  const hop = await row(dead, failed);
  expect(hop.outcome.response).toBeUndefined();
  const first = await row(url);
  expect(failed(first)).toBe(false);
  expect(first.outcome.response.status).toBe(302);
});

test("a HAR exists only where a response does", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, (route) => route.abort());
  await app.fetch(url);
  const { id } = await row(url);
  const unavailable = await har(id);
  expect(unavailable.status).toBe(409);
  expect(unavailable.body.error).toBe("har_unavailable");
  expect((await har("nobody")).status).toBe(404);
});

test("history can be searched and paged", async ({ app, backendMocks }) => {
  const base = fresh("json");
  await backendMocks.route(`${base}/mocked`, (route) => route.fulfill({ body: "needle in the body" }));
  await app.fetch(`${base}/mocked`);
  await app.fetch(`${base}/other`);
  await row(`${base}/other`, answered);
  const q = encodeURIComponent(new URL(base).pathname);
  const found = (await rest(`/api/history?q=${q}`)).body.entries;
  expect(found.map((entry) => entry.request.url)).toEqual([`${base}/other`, `${base}/mocked`]);
  const paged = (await rest(`/api/history?q=${q}&limit=1&offset=1`)).body.entries;
  expect(paged.map((entry) => entry.request.url)).toEqual([`${base}/mocked`]);
  const { testId } = found[1];
  const mine = (await rest(`/api/history?testId=${testId}&action=fulfill`)).body.entries;
  expect(mine).toHaveLength(1);
  const bodies = (await rest("/api/history?q=needle%20in%20the%20BODY")).body.entries;
  expect(bodies.map((entry) => entry.request.url)).toEqual([`${base}/mocked`]);
});
