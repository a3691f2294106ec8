/** `routeFromHAR`: answers from a recording. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { expect, test } from "../../lib/row.mjs";

/** Make an entry; `text` and the rest go into its response. */
function entry(url, { method = "GET", body, sent = [], text = "", ...response } = {}) {
  return {
    request: { method, url, headers: sent, ...(body && { postData: { mimeType: "text/plain", text: body } }) },
    response: { status: 200, headers: [], content: { text }, ...response },
  };
}

async function har(directory, ...entries) {
  const file = join(directory, "some.har");
  await writeFile(file, JSON.stringify({ log: { entries } }));
  return file;
}

const header = (name, value) => ({ name, value });

/** A recorded answer is given with status, headers and body, any number of times. */
test("hars_hit", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  const headers = [header("content-type", "text/x"), header("set-cookie", "a=1; Path=/")];
  const recorded = entry(url, { text: "recorded", status: 203, statusText: "As It Was", headers });
  await trafficmock.routeFromHAR(await har(directory, recorded));
  for (let i = 0; i < 2; i += 1) {
    const outcome = await t.get(url);
    expect([outcome.status, outcome.body, outcome.statusText]).toEqual([203, "recorded", "As It Was"]);
    expect(outcome.headers["content-type"]).toBe("text/x");
  }
});

/** Several `set-cookie` do not hurt the application. */
test("hars_several_cookies", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  const headers = [header("set-cookie", "a=1"), header("set-cookie", "b=2")];
  await trafficmock.routeFromHAR(await har(directory, entry(url, { text: "recorded", headers })));
  expect((await t.get(url)).body).toBe("recorded");
});

/** What is not recorded is aborted, or falls back. */
test("hars_not_found", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  const file = await har(directory);
  await trafficmock.routeFromHAR(file);
  expect(await t.get(url)).toHaveProperty("error");
  await t.answer("**/*", "never asked", { times: 1 });
  await trafficmock.unrouteAll();
  await trafficmock.routeFromHAR(file, { notFound: "fallback" });
  expect((await t.get(url)).body).toContain('"path"');
});

/** A missing file says how to record it, one that is no HAR says so; no route is made. */
test("hars_missing_file", async ({ t, trafficmock, directory }) => {
  const broken = join(directory, "some.har");
  await writeFile(broken, "{");
  await expect(trafficmock.routeFromHAR(broken)).rejects.toThrow(`${broken} is no HAR`);
  const missing = join(directory, "missing.har");
  const how = `there is no HAR ${missing}. To record it, run the test once with routeFromHAR(…, { update: true })`;
  await expect(trafficmock.routeFromHAR(missing)).rejects.toThrow(how);
  expect((await t.get(t.url("echo"))).body).toContain('"path"');
});

/** Method and body must be equal; most equal header lines win, then the earliest. */
test("hars_best_match", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  const file = await har(
    directory,
    entry(url, { text: "plain" }),
    entry(url, { text: "with header", sent: [header("X-A", "1")] }),
    entry(url, { method: "POST", body: "one", text: "post one" }),
    entry(url, { method: "POST", body: "two", text: "post two" }),
  );
  await trafficmock.routeFromHAR(file);
  expect((await t.get(url)).body).toBe("plain");
  expect((await t.get(url, { headers: { "x-a": "1" } })).body).toBe("with header");
  expect((await t.get(url, { method: "POST", body: "two" })).body).toBe("post two");
  expect(await t.get(url, { method: "POST", body: "three" })).toHaveProperty("error");
});

/** Redirects are followed within the HAR; a circle counts as not found. */
test("hars_redirects", async ({ t, trafficmock, directory }) => {
  const [url, end, circle] = [t.url("echo"), t.url("end"), t.url("circle")];
  const file = await har(
    directory,
    entry(url, { method: "POST", body: "x", status: 303, headers: [header("location", end)] }),
    entry(end, { text: "the end" }),
    entry(circle, { status: 302, headers: [header("location", circle)] }),
  );
  await trafficmock.routeFromHAR(file);
  expect((await t.get(url, { method: "POST", body: "x" })).body).toBe("the end");
  expect(await t.get(circle)).toHaveProperty("error");
});

/** An entry with status -1 aborts the request, with the recorded failure if that is known. */
test("hars_never_answered", async ({ t, trafficmock, directory }) => {
  const [url, other] = [t.url("echo"), t.url("other")];
  const refused = entry(url, { status: -1, _failureText: "connect ECONNREFUSED 192.0.2.1:443" });
  await trafficmock.routeFromHAR(await har(directory, refused, entry(other, { status: -1 })));
  for (const [each, code] of [
    [url, "connectionrefused"],
    [other, "failed"],
  ]) {
    expect(await t.get(each)).toHaveProperty("error");
    expect((await t.recorded(each))[0].outcome.errorCode).toBe(code);
  }
  expect(trafficmock.takeErrors()).toEqual([]);
});

/** Bodies are read from files beside the HAR, and from nowhere else. */
test("hars_files_beside_it", async ({ t, trafficmock, directory }) => {
  const [url, evil] = [t.url("echo"), t.url("evil")];
  const file = await har(
    directory,
    entry(url, { content: { _file: "body.txt" } }),
    entry(evil, { content: { _file: "../x" } }),
  );
  await writeFile(join(directory, "body.txt"), "from the file");
  await trafficmock.routeFromHAR(file);
  expect((await t.get(url)).body).toBe("from the file");
  expect(await t.get(evil)).toHaveProperty("error");
  const [error, ...others] = trafficmock.takeErrors();
  expect(others).toEqual([]);
  expect(error.message).toContain("leads out");
});

/** A zip archive holds the HAR and its bodies. */
test("hars_from_an_archive", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  const file = await har(directory, entry(url, { content: { _file: "body.txt" } }));
  const archive = join(directory, "some.zip");
  await writeFile(archive, zipSync({ "har.har": await readFile(file), "body.txt": strToU8("from the archive") }));
  await trafficmock.routeFromHAR(archive);
  expect((await t.get(url)).body).toBe("from the archive");
});

/** Newer routes come before it, and `unrouteAll` removes it. */
test("hars_is_an_ordinary_route", async ({ t, trafficmock, directory }) => {
  const url = t.url("echo");
  await trafficmock.routeFromHAR(await har(directory, entry(url, { text: "recorded" })));
  await t.answer(url, "newer", { times: 1 });
  expect((await t.get(url)).body).toBe("newer");
  expect((await t.get(url)).body).toBe("recorded");
  await trafficmock.unrouteAll();
  expect((await t.get(url)).body).toContain('"path"');
});

/** With `update` upstream answers and is recorded, failures too. */
test("hars_update", async ({ t, directory }) => {
  const [good, bad] = [t.url("json"), t.url("reset", "?times=9")];
  const file = await har(directory);
  await t.inAnotherTest(async (trafficmock) => {
    await trafficmock.routeFromHAR(file, { update: true, updateContent: "embed" });
    expect((await t.get(good)).body).toContain('"upstream"');
    expect(await t.get(bad)).toHaveProperty("error");
  });
  const { entries } = JSON.parse(await readFile(file, "utf8")).log;
  expect(entries.map(({ request }) => request.url)).toEqual([good, bad]);
  expect(entries[0].response.content.text).toContain('"upstream"');
  expect(entries[1].response.status).toBe(-1);
  expect(entries[1].response._failureText).toBeTruthy();
});
