import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { Readable } from "node:stream";
import { run } from "../../lib/harness.mjs";

const s3 = new S3Client({
  region: "eu-west-1",
  maxAttempts: 1,
  credentials: { accessKeyId: "a", secretAccessKey: "b" },
});
const send = async (Command, input) => {
  const { $metadata, ...result } = await s3.send(new Command({ Bucket: "bucket", ...input }));
  return { status: $metadata.httpStatusCode, ...result };
};

await run({
  put: () => send(PutObjectCommand, { Key: "a", Body: "text" }),
  "put bytes": () =>
    send(PutObjectCommand, { Key: "a", Body: Buffer.from("bytes"), ContentType: "text/plain", Metadata: { a: "b" } }),
  "put 3 MB": () => send(PutObjectCommand, { Key: "a", Body: Buffer.alloc(3000000, "x") }),
  "put a stream": () =>
    send(PutObjectCommand, { Key: "a", Body: Readable.from([Buffer.from("stream")]), ContentLength: 6 }),
  get: async () => (await s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "a" }))).Body.transformToString(),
  "get a stream": async () =>
    (await (await s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "a" }))).Body.toArray()).join(""),
  "get what is missing": () => send(GetObjectCommand, { Key: "missing" }),
  head: () => send(HeadObjectCommand, { Key: "a" }).then(({ status }) => status),
  list: () => send(ListObjectsV2Command, {}),
  delete: () => send(DeleteObjectCommand, { Key: "a" }),
  "cancelled at once": () =>
    s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "a" }), { abortSignal: AbortSignal.abort() }),
});
s3.destroy();
