import { expect, fresh, row, rows, seenUpstream, test, upstreamUrl } from "../../lib/fixtures.mjs";

test("fetch, then fulfill with a changed body", async ({ app, backendMocks }) => {
  const url = fresh("json");
  await backendMocks.route(url, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    await route.fulfill({ response, json: { ...json, added: true } });
  });
  const outcome = await app.fetch(url);
  expect(JSON.parse(outcome.body)).toEqual({ from: "upstream", items: [1, 2], added: true });
  expect(await seenUpstream(url)).toHaveLength(1);
  expect(await rows(url)).toHaveLength(1);
  expect((await row(url)).action).toBe("fulfill");
});

test("fetch with overrides leaves the app's request alone", async ({ app, backendMocks }) => {
  const [url, other] = [fresh("echo"), fresh("echo")];
  let fetched;
  await backendMocks.route(url, async (route) => {
    fetched = await (await route.fetch({ url: other, method: "PUT", postData: { a: 1 } })).json();
    await route.continue();
  });
  const outcome = JSON.parse((await app.fetch(url)).body);
  expect(fetched).toMatchObject({ method: "PUT", body: '{"a":1}', path: new URL(other).pathname });
  expect(outcome).toMatchObject({ method: "GET", path: new URL(url).pathname });
});

test("fetch with maxRedirects 0 gives the redirect itself", async ({ app, backendMocks }) => {
  const url = fresh("redirect/2");
  let status;
  await backendMocks.route(url, async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    status = response.status();
    await route.fulfill({ response });
  });
  const outcome = await app.fetch(url, { redirect: "manual" });
  expect(status).toBe(302);
  expect(outcome.status).toBe(302);
});

test("fetch with maxRedirects 2 follows two and refuses three", async ({ app, backendMocks }) => {
  const [two, three] = [fresh("redirect/2"), fresh("redirect/3")];
  let refused;
  await backendMocks.route(two, async (route) => route.fulfill({ response: await route.fetch({ maxRedirects: 2 }) }));
  await backendMocks.route(three, async (route) => {
    refused = await route.fetch({ maxRedirects: 2 }).catch((error) => error.message);
    await route.abort();
  });
  expect((await app.fetch(two)).body).toContain("end of");
  expect((await app.fetch(three)).error).toBeDefined();
  expect(refused).toMatch(/Max redirect count exceeded/i);
});

test("fetch with maxRetries gets over two resets", async ({ app, backendMocks }) => {
  const url = fresh("reset", "?times=2");
  await backendMocks.route(url, async (route) => route.fulfill({ response: await route.fetch({ maxRetries: 2 }) }));
  expect(JSON.parse((await app.fetch(url)).body)).toEqual({ attempts: 3 });
});

test("fetch without retries tells the handler of the reset", async ({ app, backendMocks }) => {
  const url = fresh("reset", "?times=2");
  let failure;
  await backendMocks.route(url, async (route) => {
    failure = await route.fetch().catch((error) => error);
    await route.fulfill({ status: 503, body: "saved" });
  });
  expect(await app.fetch(url)).toMatchObject({ status: 503, body: "saved" });
  expect(failure.message).toMatch(/ECONNRESET|socket hang up/i);
});

test("two fetches at once in one handler", async ({ app, backendMocks }) => {
  const url = fresh("json");
  const [one, two] = [fresh("echo"), fresh("echo")];
  await backendMocks.route(url, async (route) => {
    const responses = await Promise.all([route.fetch({ url: one }), route.fetch({ url: two })]);
    const bodies = await Promise.all(responses.map((response) => response.json()));
    await route.fulfill({ json: bodies.map((body) => body.path) });
  });
  const paths = JSON.parse((await app.fetch(url)).body);
  expect(paths).toEqual([one, two].map((each) => new URL(each).pathname));
});

test("fetch that times out lets the handler decide", async ({ app, backendMocks }) => {
  const name = `late-${Math.random().toString(36).slice(2)}`;
  const url = `${upstreamUrl}/held/${name}`;
  let failure;
  await backendMocks.route(url, async (route) => {
    failure = await route.fetch({ timeout: 150 }).catch((error) => error.message);
    await route.fulfill({ status: 504, body: "too late" });
  });
  expect(await app.fetch(url)).toMatchObject({ status: 504, body: "too late" });
  expect(failure).toMatch(/timeout/i);
});

test("a fetched gzip body arrives decoded", async ({ app, backendMocks }) => {
  const url = fresh("gzip");
  await backendMocks.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).toUpperCase() });
  });
  expect((await app.fetch(url)).body).toBe("A TEXT THAT WAS COMPRESSED");
});
