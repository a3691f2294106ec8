"use strict";

/* A server whose pages say what three third parties said, which it asks in three ways. */
const axios = require("axios");
const express = require("express");
const undici = require("undici7");

const HOST = "http://third.test";
const app = express();

app.get("/page", async (request, response) => {
  const query = `?${new URLSearchParams(request.query)}`;
  const said = await Promise.all([
    fetch(`${HOST}/price${query}`).then((answer) => answer.text()),
    axios.get(`${HOST}/stock${query}`).then(({ data }) => data),
    undici.request(`${HOST}/reviews${query}`).then(({ body }) => body.text()),
  ]);
  response.send(said.join(" "));
});

const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
