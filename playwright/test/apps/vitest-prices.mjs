/* A suite for Vitest; SHOP_URL is an attached shop. */
import { expect, onTestFinished, test } from "vitest";
import { connect } from "trafficmock-playwright/core";

for (const price of [7, 8]) {
  test.concurrent(`a price of ${price}`, async ({ task }) => {
    const mocks = await connect({ title: task.name, file: task.file.filepath });
    onTestFinished(() => mocks.end());
    await mocks.route("http://prices.example/**", (route) => route.fulfill({ json: { price } }));
    const answer = await fetch(`${process.env.SHOP_URL}/price/cup`, { headers: mocks.headers });
    expect(await answer.text()).toContain(`>${price}<`);
  });
}
