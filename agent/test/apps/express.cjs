const axios = require("axios");
const express = require("express");

const app = express();

app.get("/fetch", async (request, response) => {
  const answer = await fetch("http://prices.test/fetch");
  response.send(await answer.text());
});

app.get("/axios", async (request, response) => {
  const { data } = await axios.get("http://prices.test/axios");
  response.send(data);
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`Local: http://127.0.0.1:${server.address().port}`);
});
