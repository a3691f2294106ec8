// A shop that asks a price service over https. It knows nothing of mocks.
import express from "express";

export const app = express();

app.get("/price/:item", async (request, response) => {
  const { item } = request.params;
  const answer = await fetch(`https://prices.example/v1?item=${item}`).catch(() => undefined);
  if (!answer?.ok) return response.status(503).json({ error: "no prices today" });
  const { price } = await answer.json();
  response.json({ item, price });
});
