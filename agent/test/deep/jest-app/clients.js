/* Every way to make a request that an application under test has. */
const http = require("node:http");

/** undici 8 needs Node 22. */
const UNDICIS =
  Number(process.versions.node.split(".")[0]) < 22 ? ["undici6", "undici7"] : ["undici6", "undici7", "undici8"];

const clients = {
  fetch: async (url) => (await fetch(url)).text(),
  "node:http": (url) =>
    new Promise((resolve, reject) => {
      http.get(url, async (response) => resolve(String(Buffer.concat(await response.toArray())))).on("error", reject);
    }),
  axios: async (url) => (await require("axios").get(url, { adapter: "http" })).data,
};
for (const name of UNDICIS) {
  // Asked at once after the first load, before anything else has run.
  clients[`${name} request`] = (url) =>
    require(name)
      .request(url)
      .then(({ body }) => body.text());
  clients[`${name} fetch`] = async (url) => (await require(name).fetch(url)).text();
  clients[`${name} Pool`] = async (url) => {
    const { Pool } = require(name);
    return (await new Pool(new URL(url).origin).request({ path: new URL(url).pathname, method: "GET" })).body.text();
  };
}

module.exports = { clients, UNDICIS };
