/** `routeFromHAR` with `update`: what is recorded can be replayed. */
import { mkdir, readFile, readdir } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "../../lib/row.mjs";

const COMBINATIONS = ["some.har", "some.zip"].flatMap((name) =>
  ["attach", "embed"].flatMap((content) => ["minimal", "full"].map((mode) => [name, content, mode])),
);

const MARKED = { "x-mark": "m", "content-type": "text/x-sent" };

/** Let upstream answer, and write it down; give the outcomes. */
function record(t, file, urls, options) {
  return t.inAnotherTest(async (trafficmock) => {
    await trafficmock.routeFromHAR(file, { update: true, ...options });
    const outcomes = [];
    for (const url of urls) outcomes.push(await t.get(url, { method: "POST", body: "sent", headers: MARKED }));
    return outcomes;
  });
}

/** Give the entries, and the names of what lies beside them. */
async function read(file) {
  const content = await readFile(file);
  const files = extname(file) === ".zip" ? unzipSync(content) : undefined;
  const names = files ? Object.keys(files) : await readdir(dirname(file));
  const text = files ? strFromU8(files["har.har"]) : content.toString();
  return {
    entries: JSON.parse(text).log.entries,
    files: names.filter((name) => !["har.har", "some.har", "some.zip"].includes(name)),
  };
}

/** File or archive, bodies beside it or within, minimal or full: the replay is the same. */
test("recording_every_way_of_recording", async ({ t, trafficmock, directory }) => {
  for (const [name, updateContent, updateMode] of COMBINATIONS) {
    const place = `${name}-${updateContent}-${updateMode}`;
    const urls = ["echo", "json"].map((page) => t.url(page, `?${place}`));
    const file = join(directory, place, name);
    await mkdir(dirname(file));
    const outcomes = await record(t, file, urls, { updateContent, updateMode });
    const { entries, files } = await read(file);
    await trafficmock.routeFromHAR(file);
    const replayed = [];
    for (const url of urls) replayed.push(await t.get(url, { method: "POST", body: "sent" }));
    expect(await t.get(urls[0], { method: "POST", body: "other" }), place).toHaveProperty("error");
    await trafficmock.unrouteAll();
    expect(replayed.map(({ body }) => body)).toEqual(outcomes.map(({ body }) => body));
    expect(replayed.map(({ status }) => status)).toEqual([200, 200]);
    checkBodies(entries, files, updateContent);
    checkFigures(entries, updateMode);
  }
});

/** Bodies stand where they should, those of requests too. */
function checkBodies(entries, files, content) {
  for (const { request, response } of entries) {
    for (const holder of [response.content, request.postData]) {
      expect("_file" in holder).toBe(content === "attach");
      expect("text" in holder).toBe(content === "embed");
    }
    if (content === "attach") expect(files).toContain(response.content._file);
  }
  expect(files.length > 0).toBe(content === "attach");
}

/** Times and sizes stand in full recordings alone. */
function checkFigures(entries, mode) {
  for (const { response, time } of entries) {
    expect(response.content.size > 0).toBe(mode === "full");
    expect(time >= 0).toBe(mode === "full");
  }
}

/** A HAR that is there is written anew, not added to. */
test("recording_recorded_anew", async ({ t, directory }) => {
  const [url, other] = [t.url("echo"), t.url("json")];
  const file = join(directory, "some.har");
  await record(t, file, [url]);
  await record(t, file, [other]);
  const { entries } = await read(file);
  expect(entries.map(({ request }) => request.url)).toEqual([other]);
});
