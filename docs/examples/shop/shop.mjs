// A shop with one page. Its server charges a card through a payment service,
// http://payments.example, which a test must never really call.
import http from "node:http";

const PAGE = `<!doctype html><title>Teapots</title>
<button onclick="buy()">Buy the teapot</button> <p id="said"></p>
<script>
  async function buy() {
    const answer = await fetch("/buy", { method: "POST" });
    document.getElementById("said").textContent = await answer.text();
  }
</script>`;

function charge() {
  return fetch("http://payments.example/charges", {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ amount: 4200, currency: "EUR" }),
  });
}

async function buy() {
  // One more try: networks are what they are.
  const answer = await charge().catch(charge);
  if (answer.status === 402) return "Your card was declined.";
  const { receipt } = await answer.json();
  return `Thank you! Receipt ${receipt}.`;
}

const server = http.createServer(async (request, response) => {
  if (request.method === "GET") return response.end(PAGE);
  try {
    response.end(await buy());
  } catch {
    response.end("Please try again later.");
  }
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.stdin.on("end", () => process.exit(0)).resume();
