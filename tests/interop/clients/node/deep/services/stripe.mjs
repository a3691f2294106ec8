import Stripe from "stripe";
import { run } from "../../lib/harness.mjs";

const clients = {
  node: new Stripe("sk_test_1", { telemetry: false, maxNetworkRetries: 0 }),
  fetch: new Stripe("sk_test_1", {
    telemetry: false,
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient(),
  }),
};

await run(
  Object.fromEntries(
    Object.entries(clients).flatMap(([kind, stripe]) =>
      Object.entries({
        create: () => stripe.charges.create({ amount: 100, currency: "eur", metadata: { a: "ü" } }),
        retrieve: () => stripe.charges.retrieve("ch_1"),
        declined: () =>
          stripe.charges
            .create({ amount: 100, currency: "eur", description: "x" }, { apiKey: "sk_test_2" })
            .then(() => stripe.charges.retrieve("declined")),
        list: () => stripe.charges.list({ limit: 1 }).autoPagingToArray({ limit: 5 }),
        retry: () => stripe.charges.retrieve("flaky", {}, { maxNetworkRetries: 2 }),
        "idempotency key": () => stripe.charges.create({ amount: 1, currency: "eur" }, { idempotencyKey: "key" }),
        upload: () =>
          stripe.files
            .create({
              purpose: "dispute_evidence",
              file: { data: Buffer.from("contents"), name: "a.txt", type: "text/plain" },
            })
            .then(({ object }) => object),
        "last response": async () => (await stripe.charges.retrieve("ch_1")).lastResponse.requestId,
      }).map(([name, call]) => [`${name} (${kind})`, call]),
    ),
  ),
);
