/* An application on https: no proxy reads what browsers send it. */
import { writeFileSync } from "node:fs";
import { expect, test } from "trafficmock-playwright";

const SESSION = { name: "session", value: "mine", domain: "127.0.0.1", path: "/", expires: -1 };
const STALE = { ...SESSION, name: "trafficmock_test", value: "0123456789abcdef".repeat(2) };
const KEPT = {
  cookies: [SESSION, STALE, { ...STALE, domain: "localhost" }].map((cookie) => ({
    ...cookie,
    httpOnly: true,
    secure: true,
    sameSite: "Lax",
  })),
  origins: [],
};

test.beforeEach(({ trafficmock }) => trafficmock.route("**/price/*", (route) => route.fulfill({ json: { price: 8 } })));

test("the cookie is for https alone", async ({ page, trafficmock }) => {
  await page.goto("/price/cup");
  await expect(page.locator("#price")).toHaveText("8");
  const [{ name, value, secure, httpOnly }, ...others] = await page.context().cookies();
  expect([name, value, secure, httpOnly]).toEqual(["trafficmock_test", trafficmock.id, true, true]);
  expect(others).toEqual([]);
});

test("baggage does the same for other clients", async ({ playwright, trafficmock, baseURL }) => {
  const other = await playwright.request.newContext({ storageState: { cookies: [], origins: [] } });
  const answer = await other.get(`${baseURL}/price/cup`, { headers: trafficmock.headers });
  expect(await answer.text()).toContain(">8<");
});

test.describe("with a state of the configuration", () => {
  test.use({ storageState: KEPT });

  test("its cookies stay, but not the contexts of other tests", async ({ context, request, trafficmock }) => {
    for (const { cookies } of [await context.storageState(), await request.storageState()]) {
      const values = Object.fromEntries(cookies.map(({ name, value }) => [name, value]));
      expect(values).toEqual({ session: "mine", trafficmock_test: trafficmock.id });
      expect(cookies.length).toBe(2);
    }
    expect(await (await request.get("/price/cup")).text()).toContain(">8<");
  });
});

test("the context of a test that ended does not come with a saved state", async ({ browser, baseURL }) => {
  const file = test.info().outputPath("state.json");
  writeFileSync(file, JSON.stringify(KEPT));
  for (const storageState of [KEPT, file]) {
    const other = await browser.newContext({ storageState });
    const page = await other.newPage();
    await page.goto(`${baseURL}/price/cup`);
    await expect(page.locator("#price")).toHaveText("8");
    expect((await other.cookies()).map(({ name }) => name).sort()).toEqual(["session", "trafficmock_test"]);
    await other.close();
  }
  await expect(browser.newContext({ storageState: `${file}.missing` })).rejects.toThrow(/state\.json\.missing/);
});

test.describe("with a proxy of the configuration", () => {
  test.use({ proxy: { server: "http://127.0.0.1:9", bypass: "<-loopback>, 127.0.0.1" } });

  test("it stays", async ({ trafficmock, context, browser }) => {
    expect(trafficmock.proxy).toBeUndefined();
    const other = await browser.newContext();
    for (const each of [context, other]) {
      expect((await each.cookies()).map(({ name }) => name)).toEqual(["trafficmock_test"]);
    }
    await other.close();
  });
});
