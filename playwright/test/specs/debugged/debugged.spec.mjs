/* A test that somebody debugs: its page waits for a price that its handler gives when it is told to. */
import { expect, test } from "trafficmock-playwright";

test("is debugged", async ({ page, trafficmock }) => {
  await trafficmock.route("**/price/*", (route) => route.fulfill({ json: { price: 4 } }));
  await page.goto("/price/teapot");
  await expect(page.locator("#price")).toHaveText("4");
});
