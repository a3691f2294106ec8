import { Configuration, PlaidApi } from "plaid";
import { SquareClient } from "square";
import { run } from "../lib/harness.mjs";

const plaid = new PlaidApi(new Configuration({ basePath: "https://vendor.test" }));
const square = new SquareClient({ token: "t", baseUrl: "https://vendor.test", maxRetries: 0 });
const wanted = { client_id: "c", secret: "s", access_token: "a", start_date: "2026-01-01", end_date: "2026-02-01" };

await run({
  plaid: async () => (await plaid.transactionsGet(wanted)).data,
  square: async () => (await square.payments.get({ paymentId: "pay_1" })).payment,
  "square: create": async () =>
    (
      await square.payments.create({
        sourceId: "card",
        idempotencyKey: "k",
        amountMoney: { amount: 100n, currency: "EUR" },
      })
    ).payment,
});
