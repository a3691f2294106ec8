import { fetchCalls, postForm } from "../lib/fetch-calls.mjs";
import { HTTPS, pieces, run } from "../lib/harness.mjs";

await run({
  ...fetchCalls(fetch),
  "post multipart": postForm(fetch, FormData),
  "stream up": async () =>
    (
      await fetch(`${HTTPS}/echo`, { method: "POST", body: ReadableStream.from(pieces("one ", "two")), duplex: "half" })
    ).json(),
  "stream down": async () =>
    (await Array.fromAsync?.((await fetch(`${HTTPS}/chunked`)).body.pipeThrough(new TextDecoderStream())))?.join(""),
  events: async () => {
    let text = "";
    for await (const chunk of (await fetch(`${HTTPS}/events`)).body) text += Buffer.from(chunk);
    return text;
  },
  Request: async () => (await fetch(new Request(`${HTTPS}/echo`, { method: "PUT", body: "of a Request" }))).json(),
  clone: async () => {
    const response = await fetch(`${HTTPS}/json`);
    return Promise.all([response.clone().text(), response.json()]);
  },
  blob: async () => (await (await fetch(`${HTTPS}/text`)).blob()).size,
  integrity: async () => (await fetch(`${HTTPS}/text`, { integrity: "sha256-wrong=" })).text(),
});
