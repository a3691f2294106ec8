import fetch, { FormData } from "node-fetch";
import { fetchCalls, postForm } from "../lib/fetch-calls.mjs";
import { run } from "../lib/harness.mjs";
import { nodeFetchCalls } from "../lib/node-fetch-calls.mjs";

await run({ ...fetchCalls(fetch), ...nodeFetchCalls(fetch), "post multipart": postForm(fetch, FormData) });
