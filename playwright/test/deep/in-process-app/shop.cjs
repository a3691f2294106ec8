/* A shop for tests of its own process, in Express and in Fastify, with several clients. It knows nothing of mocks. */
const { EventEmitter, once } = require("node:events");
const https = require("node:https");
const axios = require("axios");
const express = require("express");
const fastify = require("fastify");

const PRICES = "https://prices.example/v1";
const AUDIT = "https://audit.example/v1";

/** By name: asks for the price, and returns it. */
const CLIENTS = {
  fetch: async () => (await (await fetch(PRICES)).json()).price,
  axios: async () => (await axios.get(PRICES)).data.price,
  "node:https": async () => {
    const [answer] = await once(https.get(PRICES), "response");
    let text = "";
    for await (const part of answer) text += part;
    return JSON.parse(text).price;
  },
  "after a timer": async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return CLIENTS.fetch();
  },
};

/** Emits `open` to let the shop write its books, and `written` when it has tried. */
const books = new EventEmitter();

async function price(client) {
  try {
    return { price: await CLIENTS[client]() };
  } catch (error) {
    return { error: String(error.cause ?? error) };
  }
}

function write() {
  void once(books, "open")
    .then(() => fetch(AUDIT))
    .catch(() => undefined)
    .finally(() => books.emit("written"));
}

const shop = express();
shop.get("/price/:client", async (request, response) => response.json(await price(request.params.client)));
shop.get("/write", (request, response) => {
  write();
  response.json({});
});

/** @returns the shop in Fastify, which its tests call by `inject` */
function makeFastify() {
  const app = fastify();
  app.get("/price/:client", (request) => price(request.params.client));
  return app;
}

module.exports = { AUDIT, CLIENTS, PRICES, books, makeFastify, shop };
