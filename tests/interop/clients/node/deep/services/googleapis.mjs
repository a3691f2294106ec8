import { Readable } from "node:stream";
import { drive as driveOf } from "@googleapis/drive";
import { run, text } from "../../lib/harness.mjs";

const drive = driveOf({ version: "v3", auth: "key", retry: false });
const data = ({ status, data }) => ({ status, data });

await run({
  list: () => drive.files.list().then(data),
  "list again": () => drive.files.list({ q: "a b" }).then(data),
  create: () => drive.files.create({ requestBody: { name: "a" } }).then(data),
  upload: () =>
    drive.files
      .create({ requestBody: { name: "a" }, media: { mimeType: "text/plain", body: "contents" } })
      .then(({ status }) => status),
  "upload a stream": () =>
    drive.files
      .create({ requestBody: { name: "a" }, media: { mimeType: "text/plain", body: Readable.from(["con", "tents"]) } })
      .then(({ status }) => status),
  media: () => drive.files.get({ fileId: "1", alt: "media" }).then(data),
  "media as a stream": async () =>
    text((await drive.files.get({ fileId: "1", alt: "media" }, { responseType: "stream" })).data),
  "status 404": () => drive.files.get({ fileId: "missing" }).then(data),
  "cancelled at once": () => drive.files.list({}, { signal: AbortSignal.abort() }),
});
