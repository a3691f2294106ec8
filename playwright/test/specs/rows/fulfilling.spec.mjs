/** `fulfill`: what handlers answer. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { differs, errorOf, expect, test } from "../../lib/row.mjs";

/** Without arguments it is an empty 200; status 0 is 200 too. */
test("fulfilling_fulfill_defaults", async ({ t, trafficmock }) => {
  for (const options of [undefined, {}, { status: 0 }]) {
    const url = t.url("echo", `?${JSON.stringify(options)?.length}`);
    await trafficmock.route(url, (route) => route.fulfill(options));
    const outcome = await t.get(url);
    expect([outcome.status, outcome.body]).toEqual([200, ""]);
  }
});

/** Values become strings, names lower case, `undefined` and transfer-encoding are left out. */
test("fulfilling_fulfill_headers", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const headers = { "X-Number": 5, "X-None": undefined, "Transfer-Encoding": "chunked" };
  await trafficmock.route(url, (route) => route.fulfill({ status: 203, headers, body: "b", contentType: "text/x" }));
  const outcome = await t.get(url);
  expect(outcome.status).toBe(203);
  expect(outcome.headers).toMatchObject({ "x-number": "5", "content-type": "text/x", "content-length": "1" });
  expect(outcome.headers).not.toHaveProperty("x-none");
  expect(outcome.headers).not.toHaveProperty("transfer-encoding");
});

/** JSON and files bring their content types. */
test("fulfilling_fulfill_json_and_path", async ({ t, trafficmock, directory }) => {
  const [url, page] = [t.url("echo"), t.url("echo", "?file")];
  await trafficmock.route(url, (route) => route.fulfill({ json: { a: "ä" } }));
  const asJson = await t.get(url);
  expect(JSON.parse(asJson.body)).toEqual({ a: "ä" });
  expect(asJson.headers["content-type"]).toBe("application/json");
  const path = join(directory, "page.html");
  await writeFile(path, "<p>");
  await trafficmock.route(page, (route) => route.fulfill({ path }));
  const asFile = await t.get(page);
  expect(asFile.body).toBe("<p>");
  expect(asFile.headers["content-type"]).toBe("text/html");
});

/** The text beside the status is the one given, else the status's own. */
test("fulfilling_fulfill_status_texts", async ({ t, trafficmock }) => {
  const cases = [
    [{ status: 418 }, "I'm a Teapot"],
    [{ status: 404, statusText: "" }, "Not Found"],
    [{ status: 401, statusText: "Very Well" }, "Very Well"],
  ];
  for (const [options, wanted] of cases) {
    const url = t.url("echo", `?${options.status}`);
    await trafficmock.route(url, (route) => route.fulfill(options));
    const response = await t.expect("response", url, () => t.get(url));
    expect(response.statusText()).toBe(wanted);
    expect((await t.get(url)).statusText).toBe(wanted);
    const [entry] = await t.recorded(url);
    expect(entry.outcome.response.statusText).toBe(wanted);
  }
});

/** A status text that HTTP cannot carry is refused, and may be given again. */
test("fulfilling_fulfill_with_a_bad_status_text", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const refused = [];
  await trafficmock.route(url, async (route) => {
    for (const statusText of ["a\r\nset-cookie: b=1", "€"]) {
      refused.push(await errorOf(() => route.fulfill({ statusText })));
    }
    await route.fulfill({ status: 202 });
  });
  expect((await t.get(url)).statusText).toBe("Accepted");
  expect(refused).toHaveLength(2);
  for (const { message } of refused) expect(message).toMatch(/^statusText must be text .*without control characters/);
});

/** A response gives status, text, headers and body where nothing else is said. */
test("fulfilling_fulfill_from_a_response", async ({ t, trafficmock }) => {
  const url = t.url("json");
  await trafficmock.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, status: 202, headers: { "x-only": "1" } });
  });
  const outcome = await t.get(url);
  expect([outcome.status, outcome.headers["x-only"]]).toEqual([202, "1"]);
  expect(outcome.headers).not.toHaveProperty("content-type");
  expect(outcome.body).toContain('"upstream"');
  expect(outcome.statusText).toBe("Accepted");
});

/** A response that was disposed of has no body any more. */
test(
  "fulfilling_fulfill_with_a_disposed_response",
  differs("dispose() gives a promise, as in Playwright's API for JavaScript"),
  async ({ t, trafficmock }) => {
    const url = t.url("json");
    const errors = [];
    await trafficmock.route(url, async (route) => {
      const response = await route.fetch();
      await response.dispose();
      errors.push(await errorOf(() => response.body()));
      errors.push(await errorOf(() => route.fulfill({ response })));
      await route.fulfill({ body: "fine" });
    });
    expect((await t.get(url)).body).toBe("fine");
    expect(errors).toHaveLength(2);
    for (const error of errors) {
      expect(error.name).toBe("UsageError");
      expect(error.message).toContain("disposed");
    }
  },
);

/** What no HTTP response can carry fails the test, not the application's process. */
test("fulfilling_fulfill_with_a_bad_mock", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, (route) => route.fulfill({ headers: { "bad name": "x" } }));
  expect(await t.fetch(url)).toHaveProperty("error");
  const [error, ...others] = trafficmock.takeErrors();
  expect(others).toEqual([]);
  expect(error.name).toBe("UsageError");
  expect(error.message).toContain('"bad name" is not a header name');
  expect((await t.alive()).pid).toBeTruthy();
});

/** A content-encoding that the body does not have is left out, whichever client asks. */
test("fulfilling_fulfill_without_a_coding_that_the_body_lacks", async ({ t, trafficmock }) => {
  for (const [number, coding] of ["br", "zstd", "gzip, br", "x-unknown", "gzip", "deflate"].entries()) {
    const url = t.url("echo", `?${number}`);
    await trafficmock.route(url, (route) => route.fulfill({ headers: { "content-encoding": coding }, body: "plain" }));
    for (const outcome of [await t.get(url), await t.fetch(url)]) {
      expect(outcome.body).toBe("plain");
      expect(outcome.headers).not.toHaveProperty("content-encoding");
    }
  }
});
