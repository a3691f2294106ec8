// A client library of Node, by its name: it reads what the test answers, piece by piece.
import { createInterface } from "node:readline";
import { rest, streamingClients } from "../../../../agent/test/lib/streams.mjs";
import { failed, givenUp } from "./failed.mjs";

const { call } = (await streamingClients())[process.argv[2]];

async function act(method, url) {
  const { status, chunks } = await call(url, { method, signal: givenUp() });
  const body = await rest(chunks);
  return { status, headers: [], size: body.length, text: body.toString("latin1") };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [, method, url] = line.split("\t");
  const said = await act(method, url).catch(failed);
  process.stdout.write(JSON.stringify(said) + "\n");
}
