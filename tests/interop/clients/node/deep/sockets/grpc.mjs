import { promisify } from "node:util";
import grpc from "@grpc/grpc-js";
import { run } from "../../lib/harness.mjs";

const coded = {
  requestSerialize: (value) => Buffer.from(JSON.stringify(value)),
  requestDeserialize: (bytes) => JSON.parse(bytes),
  responseSerialize: (value) => Buffer.from(JSON.stringify(value)),
  responseDeserialize: (bytes) => JSON.parse(bytes),
};
const SHOP = {
  buy: { path: "/Shop/buy", requestStream: false, responseStream: false, ...coded },
  watch: { path: "/Shop/watch", requestStream: false, responseStream: true, ...coded },
};

/** Have a client and a server of this process talk. */
async function talk(act) {
  const server = new grpc.Server();
  server.addService(SHOP, {
    buy: ({ request }, done) =>
      request.amount > 0
        ? done(null, { bought: request.amount })
        : done({ code: grpc.status.INVALID_ARGUMENT, details: "none" }),
    watch: (call) => {
      for (const price of [1, 2, 3]) call.write({ price });
      call.end();
    },
  });
  const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", grpc.ServerCredentials.createInsecure());
  const Client = grpc.makeGenericClientConstructor(SHOP, "Shop");
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  try {
    return await act(client);
  } finally {
    client.close();
    server.forceShutdown();
  }
}

await run({
  "a call": () => talk((client) => promisify(client.buy.bind(client))({ amount: 2 })),
  "a call that fails": () => talk((client) => promisify(client.buy.bind(client))({ amount: 0 })),
  "a stream": () =>
    talk(async (client) => {
      const prices = [];
      for await (const { price } of client.watch({})) prices.push(price);
      return prices;
    }),
});
