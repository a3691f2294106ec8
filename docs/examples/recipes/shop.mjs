// The shop of the recipes. Each page asks services that do not exist.
import http from "node:http";

const SERVICES = {
  async "/price"() {
    let answer = await fetch("https://prices.example/v1/teapot");
    for (let tries = 1; [429, 503].includes(answer.status) && tries < 3; tries++) {
      answer = await fetch("https://prices.example/v1/teapot");
    }
    return answer.ok ? `${(await answer.json()).price} €` : `no price (${answer.status})`;
  },

  async "/price-in-time"() {
    const answer = await fetch("https://prices.example/v1/teapot", { signal: AbortSignal.timeout(500) });
    return `${(await answer.json()).price} €`;
  },

  async "/orders"() {
    for (let tries = 0; tries < 2; tries++) {
      const login = await fetch("https://login.example/oauth/token", {
        method: "POST",
        body: new URLSearchParams({ grant_type: "client_credentials", client_id: "shop" }),
      });
      const { access_token } = await login.json();
      const answer = await fetch("https://orders.example/v1", { headers: { authorization: `Bearer ${access_token}` } });
      if (answer.status !== 401) return answer.text();
    }
    return "not let in";
  },

  async "/basket"() {
    const ask = async (operationName) => {
      const query = `query ${operationName} { … }`;
      const body = JSON.stringify({ operationName, query });
      return (await fetch("https://api.example/graphql", { method: "POST", body })).json();
    };
    const [user, basket] = await Promise.all([ask("User"), ask("Basket")]);
    return `${user.data.name}: ${basket.data.items}`;
  },

  async "/advice"() {
    const answer = await fetch("https://llm.example/v1/advice", { method: "POST", body: '{"stream":true}' });
    let told = "";
    try {
      for await (const part of answer.body.pipeThrough(new TextDecoderStream())) told += part;
    } catch {
      return `${told} (broken off)`;
    }
    return told;
  },

  async "/pay"() {
    // One key for all tries, so that the service charges once.
    const headers = { "idempotency-key": "order-7" };
    const body = JSON.stringify({ order: 7, lines: [{ sku: "teapot", quantity: 2 }] });
    const pay = () => fetch("https://pay.example/v1/charges", { method: "POST", headers, body });
    const answer = await pay().catch(pay);
    return (await answer.json()).paid ? "paid" : "not paid";
  },

  async "/session"() {
    const answer = await fetch("https://login.example/session");
    return answer.headers.getSetCookie().join(" | ");
  },

  async "/feed"() {
    const answer = await fetch("https://feed.example/teapots");
    return `${answer.headers.get("content-encoding")}: ${await answer.text()}`;
  },

  async "/backup"() {
    const body = "x".repeat(5_000_000);
    const answer = await fetch("https://backup.example/upload", { method: "PUT", body });
    return String((await answer.arrayBuffer()).byteLength);
  },

  async "/ticker"() {
    const socket = new WebSocket("wss://ticker.example/prices");
    socket.onopen = () => socket.send("teapot");
    return new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => {
        socket.close();
        resolve(data);
      };
      socket.onerror = reject;
    });
  },
};

const server = http.createServer(async (request, response) => {
  try {
    response.end(await SERVICES[request.url]());
  } catch (error) {
    response.writeHead(500).end(error.cause?.code ?? error.name);
  }
});
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
