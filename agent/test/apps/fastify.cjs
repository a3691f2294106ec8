const axios = require("axios");
const app = require("fastify")();

app.get("/fetch", async () => (await fetch("http://prices.test/fetch")).text());

app.get("/axios", async () => (await axios.get("http://prices.test/axios")).data);

app
  .listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" })
  .then((address) => console.log(`Local: ${address}`));
