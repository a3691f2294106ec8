import { writeFile } from "node:fs/promises";
import { answered, expect, fresh, har, row, seenUpstream, test } from "../../lib/fixtures.mjs";

async function download(url, file) {
  const entry = await row(url, answered);
  // A HAR to replay has the cookies as they were.
  const { status, body } = await har(entry.id, "?redact=off");
  expect(status).toBe(200);
  await writeFile(file, JSON.stringify(body));
  return body;
}

test("a recorded response replays through the fixture", async ({ app, backendMocks }, testInfo) => {
  const url = fresh("json", "?page=1");
  const recorded = await app.fetch(url);
  const file = testInfo.outputPath("json.har");
  await download(url, file);
  await backendMocks.routeFromHAR(file, { url });
  const replayed = await app.fetch(url);
  expect([replayed.status, replayed.body]).toEqual([recorded.status, recorded.body]);
  expect(await seenUpstream(url)).toHaveLength(1);
  expect((await row(url)).action).toBe("fulfill");
});

test("a recorded POST replays only for the same body", async ({ app, backendMocks }, testInfo) => {
  const url = fresh("echo");
  const sent = { method: "POST", body: "same \u00e9" };
  const recorded = await app.fetch(url, sent);
  const file = testInfo.outputPath("post.har");
  const { log } = await download(url, file);
  expect(log.entries[0].request.postData.text).toBe("same \u00e9");
  await backendMocks.routeFromHAR(file, { url });
  expect((await app.fetch(url, sent)).body).toBe(recorded.body);
  const refused = await app.fetch(url, { method: "POST", body: "other" });
  // No code here: of an aborted fetch that has a body, the agent shows only a closed socket.
  expect(refused.error.message).toBe("fetch failed");
  expect((await row(url)).outcome).toEqual({ kind: "aborted", errorCode: "failed" });
  expect(await seenUpstream(url)).toHaveLength(1);
});

test("a recorded mock with bytes that are no text replays", async ({ app, backendMocks }, testInfo) => {
  const url = fresh("json");
  const body = Buffer.from([0, 255, 128, 10]);
  await backendMocks.route(url, (route) => route.fulfill({ body, contentType: "image/x-test" }));
  await app.fetch(url);
  const file = testInfo.outputPath("bytes.har");
  await download(url, file);
  await backendMocks.unrouteAll();
  await backendMocks.routeFromHAR(file, { url });
  const replayed = await app.fetch(url);
  expect(replayed.bodyBase64).toBe(body.toString("base64"));
  expect(replayed.headers["content-type"]).toBe("image/x-test");
  expect(await seenUpstream(url)).toEqual([]);
});

test("several recorded cookies replay", async ({ app, backendMocks }, testInfo) => {
  const url = fresh("cookies");
  await app.fetch(url);
  const file = testInfo.outputPath("cookies.har");
  await download(url, file);
  await backendMocks.routeFromHAR(file, { url });
  const replayed = await app.fetch(url);
  expect(replayed.body).toBe("two cookies");
  expect(replayed.setCookie.join(", ")).toContain("b=2");
});
