import { Client } from "@elastic/elasticsearch";
import { neon } from "@neondatabase/serverless";
import { connect } from "@planetscale/database";
import { Redis } from "@upstash/redis";
import { run } from "../lib/harness.mjs";

const node = "https://vendor.test/elastic";
const elastic = new Client({ node, maxRetries: 0 });
const packed = new Client({ node, compression: true, maxRetries: 0 });
const planet = connect({ url: "mysql://me:secret@vendor.test/shop" });
const sql = neon("postgresql://me:secret@db.vendor.test/shop");
const redis = new Redis({ url: "https://vendor.test/upstash", token: "t", enableTelemetry: false });
const search = { index: "items", query: { match: { a: 1 } } };

await run({
  "elasticsearch: search": async () => (await elastic.search(search)).hits.hits,
  "elasticsearch: gzip": async () => (await packed.search(search)).hits.hits,
  "elasticsearch: bulk": () => elastic.bulk({ operations: [{ index: { _index: "items" } }, { a: 1 }] }),
  "elasticsearch: cancelled": () => elastic.search(search, { signal: AbortSignal.abort() }),
  planetscale: async () => (await planet.execute("select 1 as id")).rows,
  neon: () => sql`select ${1} as id`,
  "upstash: set": () => redis.set("a", "1"),
  "upstash: pipeline": () => redis.pipeline().set("a", "1").get("a").exec(),
});
