// A shop with one teapot. Its server charges the card through a payment service,
// https://payments.example, which does not exist, and which no test should call if it did.
// Nothing in here knows of trafficmock.
import http from "node:http";

const PAGE = `<!doctype html><title>Teapots</title>
<h1>A teapot, 42 €</h1>
<button onclick="buy()">Buy</button> <p id="said"></p>
<script>
  async function buy() {
    const answer = await fetch("/buy", { method: "POST" });
    document.getElementById("said").textContent = await answer.text();
  }
</script>`;

async function buy() {
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ amount: 4200, currency: "EUR" }),
  });
  if (answer.status === 402) return "Your card was declined.";
  const { receipt } = await answer.json();
  return `Thank you! Receipt ${receipt}.`;
}

const server = http.createServer(async (request, response) => {
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    return response.end(PAGE);
  }
  try {
    response.end(await buy());
  } catch {
    response.end("Please try again later.");
  }
});

server.listen(3000, "127.0.0.1", () => console.log("shop on http://127.0.0.1:3000"));
