import { connect } from "trafficmock-playwright/core";
import { expect, test } from "vitest";

const PRICES = "http://prices.example/items/*";

// Tests at the same time need the onTestFinished of their own context.
async function trafficmock({ task, onTestFinished }) {
  const mocks = await connect({ title: task.name, file: task.file.filepath });
  // The report of the run has the tests that failed.
  onTestFinished(() => mocks.end({ failed: task.result.state === "fail", error: task.result.errors?.[0] }));
  return mocks;
}

async function ask(item, { headers }) {
  const answer = await fetch(`http://127.0.0.1:3000/price/${item}`, { headers });
  return answer.json();
}

test.concurrent("tells what the price service says", async (context) => {
  const mocks = await trafficmock(context);
  await mocks.route(PRICES, (route) => route.fulfill({ json: { price: 12 } }));
  const asked = mocks.waitForRequest(PRICES);
  expect(await ask("teapot", mocks)).toEqual({ item: "teapot", price: 12 });
  expect((await asked).url()).toBe("http://prices.example/items/teapot");
});

test.concurrent("survives a price service that is down", async (context) => {
  const mocks = await trafficmock(context);
  await mocks.route(PRICES, (route) => route.abort("connectionrefused"));
  expect(await ask("teapot", mocks)).toEqual({ error: "no prices today" });
});
