// The same application for Node: GET /quote/5 asks the service for a price.
import { randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const rates = `http://127.0.0.1:${process.env.RATES_PORT ?? 5001}`;
const headers = { authorization: "Bearer t-0815-sekret", "content-type": "application/json" };

async function quote(amount) {
  const asked = { amount, request_id: randomUUID(), sent_at: new Date().toISOString() };
  const { job } = await get("/quotes", { method: "POST", body: JSON.stringify(asked) });
  for (;;) {
    const { state, price } = await get(job);
    if (state === "done") return { price };
    await pause(10);
  }
}

async function get(path, options) {
  const answer = await fetch(`${rates}${path}`, { headers, ...options });
  return answer.json();
}

http
  .createServer(async (request, response) => {
    const amount = Number(request.url.split("/").at(-1));
    const answer = await quote(amount).catch(() => ({ error: "no quotes today" }));
    response.end(JSON.stringify(answer));
  })
  .listen(Number(process.env.QUOTES_PORT ?? 3000), "127.0.0.1");
