/* Tests side by side on one shop, which all mock the same URL. */
import { expect, test } from "trafficmock-playwright";

const ROUNDS = Number(process.env.ROUNDS ?? 4);

for (let round = 0; round < ROUNDS; round += 1) {
  test(`page ${round}`, async ({ page, trafficmock }) => {
    const price = `${round}-${Math.random()}`;
    await trafficmock.route("http://prices.example/**", (route) => route.fulfill({ json: { price } }));
    await page.goto("/price/teapot");
    await expect(page.locator("#price")).toHaveText(price);
    const [request] = await trafficmock.requests();
    expect(request.url()).toBe("http://prices.example/price/teapot");
  });

  test(`request ${round}`, async ({ request, page, trafficmock }) => {
    const price = `${round}-${Math.random()}`;
    await trafficmock.route({ url: "**/price/*", method: "GET", clientId: "shop" }, (route) =>
      route.fulfill({ json: { price } }),
    );
    expect(await (await request.get("/price/cup")).text()).toContain(price);
    expect(await (await page.request.get("/price/cup")).text()).toContain(price);
  });

  test(`a context of its own ${round}`, async ({ browser, trafficmock, context }) => {
    const price = `${round}-${Math.random()}`;
    await trafficmock.route("**/price/*", (route) => route.fulfill({ json: { price } }));
    const other = await browser.newContext();
    for (const page of [await other.newPage(), await context.newPage()]) {
      await page.goto("/price/can");
      await expect(page.locator("#price")).toHaveText(price);
    }
    await other.close();
  });
}
