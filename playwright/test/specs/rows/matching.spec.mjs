/** Which requests a handler is asked about. */
import { differs, errorOf, expect, meaningless, test } from "../../lib/row.mjs";

/** A glob matches the whole URL. */
test("matching_glob", async ({ t }) => {
  await t.answer(`**/echo/${t.base}`, "glob");
  expect((await t.get(t.url("echo"))).body).toBe("glob");
  expect((await t.get(t.url("echo", "?x=1"))).body).not.toBe("glob");
});

/** A pattern is searched in the URL, with its flags. */
test("matching_regex", async ({ t }) => {
  await t.answer(new RegExp(`ECHO/${t.base}\\?x=\\d+$`, "i"), "regex");
  expect((await t.get(t.url("echo", "?x=12"))).body).toBe("regex");
  expect((await t.get(t.url("echo", "?x=y"))).body).not.toBe("regex");
});

test.skip(
  "matching_regex_only_python_has",
  meaningless("a RegExp is what the proxy reads: there is no other kind to be judged here"),
  () => {},
);

/** A predicate gets the parsed URL. */
test(
  "matching_predicate",
  differs("a predicate gets a URL object, as in Playwright's API for JavaScript"),
  async ({ t }) => {
    const seen = new Set();
    await t.answer((url) => {
      seen.add(url.constructor);
      return url.pathname.includes(t.base);
    }, "predicate");
    expect((await t.get(t.url("echo"))).body).toBe("predicate");
    expect([...seen]).toEqual([URL]);
  },
);

/** Anything with the looks of a URLPattern is one. */
test("matching_url_pattern", differs("a URLPattern has a pathname and a hostname too"), async ({ t }) => {
  const pattern = { test: (url) => url.includes(t.base), pathname: "*", hostname: "*" };
  await t.answer(pattern, "pattern");
  expect((await t.get(t.url("echo"))).body).toBe("pattern");
});

/** Filters of method and client id, scalar or list. */
test("matching_filters", differs("filters stand in an object alone: there are no keywords"), async ({ t }) => {
  const url = t.url("echo");
  await t.answer({ url, method: ["put", "POST"], clientId: "app" }, "list");
  await t.answer({ url, clientId: "another app" }, "another's");
  expect((await t.get(url, { method: "POST", body: "x" })).body).toBe("list");
  expect(["list", "another's"]).not.toContain((await t.get(url)).body);
  await t.answer({ url, method: "get", clientId: ["app", "b"] }, "scalar");
  expect((await t.get(url)).body).toBe("scalar");
});

/** Empty lists do not filter, and a filter without URL matches all URLs. */
test("matching_empty_filters", async ({ t }) => {
  await t.answer({ method: [], clientId: [] }, "all");
  expect((await t.get(t.url("echo"))).body).toBe("all");
});

/** The empty glob matches every URL. */
test("matching_empty_glob", async ({ t }) => {
  await t.answer("", "all");
  expect((await t.get(t.url("echo"))).body).toBe("all");
});

/** A bad glob is refused at once. */
test("matching_bad_glob", async ({ t }) => {
  for (const bad of ["**/{a", "**/a}", "**/{a,{b}}"]) {
    const error = await errorOf(() => t.answer(bad, ""));
    expect(error.name).toBe("UsageError");
    expect(error.message).toContain(JSON.stringify(bad));
  }
});

/** A predicate over the URL that throws is the test's error; the request goes on. */
test("matching_throwing_predicate", async ({ t, trafficmock }) => {
  await t.answer(() => {
    throw new RangeError("bad predicate");
  }, "never");
  expect((await t.get(t.url("echo"))).body).toContain('"path"');
  const errors = trafficmock.takeErrors();
  expect(errors).not.toEqual([]);
  for (const error of errors) expect(error).toBeInstanceOf(RangeError);
});
