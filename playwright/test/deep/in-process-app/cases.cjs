/* What the tests of every runner do. Several files of them run at the same time, on one proxy. */
const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const request = require("supertest");
const { connect } = require("trafficmock-playwright/core");
const { AUDIT, CLIENTS, PRICES, books, makeFastify, shop } = require("./shop.cjs");

/** Jest cannot load what Fastify needs for `inject`: a module of CommonJS that requires an ES module. */
const fastify = process.env.JEST_WORKER_ID ? undefined : makeFastify();

/** Ask for the price by every client, in both frameworks. */
async function prices() {
  const found = [];
  for (const client of Object.keys(CLIENTS)) {
    const path = `/price/${encodeURIComponent(client)}`;
    found.push((await request(shop).get(path)).body);
    if (fastify) found.push((await fastify.inject(path)).json());
  }
  return found;
}

/** Begin a test whose price no other test has. */
async function begin(title, options) {
  const mocks = await connect({ title, attachSelf: true, strict: true, ...options });
  const price = randomUUID();
  await mocks.route(PRICES, (route) => route.fulfill({ json: { price } }));
  return { mocks, price };
}

const wanted = (price) => Object.keys(CLIENTS).flatMap(() => [{ price }, ...(fastify ? [{ price }] : [])]);

/** A whole test: it connects where it runs. */
async function inBody(title) {
  const { mocks, price } = await begin(title);
  try {
    assert.deepEqual(await prices(), wanted(price));
    assert.equal((await mocks.requests()).length, wanted(price).length, "nothing else was seen, as calls of the shop");
  } finally {
    await mocks.end();
  }
}

/** A test that leaves work behind in the shop. */
async function leaveBehind() {
  await request(shop).get("/write").expect(200);
}

/** The next test, in which the work is done. The history says whose it is. */
async function afterwards(mocks) {
  await mocks.mock(AUDIT, { json: {} });
  const written = once(books, "written");
  books.emit("open");
  await written;
}

module.exports = { afterwards, begin, inBody, leaveBehind, prices, wanted };
