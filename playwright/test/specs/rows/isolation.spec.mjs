/** The context of a test, on requests that the test sends through the forward proxy itself. */
import { differs, expect, test } from "../../lib/row.mjs";

/** A request with the context is the test's, also where no route wants it. */
test("isolation_requests_name_the_test", async ({ t, trafficmock }) => {
  const [url, other] = [t.url("json"), t.url("json", "?other")];
  await t.throughProxy(url, trafficmock.headers);
  await t.throughProxy(other, {});
  const [mine] = await t.recorded(url);
  expect(mine.title).toMatch(/requests_name_the_test$/);
  expect(mine.action).toBe("passthrough");
  expect(JSON.stringify(mine.request.headers)).not.toContain("trafficmock.test");
  const [untagged] = await t.recorded(other);
  expect(untagged).not.toHaveProperty("title");
});

/** A route answers what carries the context, and waits see it. */
test("isolation_answers_to_its_own", async ({ t, trafficmock }) => {
  const url = t.url("json");
  await t.answer(url, "mine");
  expect(await t.throughProxy(url, trafficmock.headers)).toBe("mine");
  const { name, value } = trafficmock.cookie(url);
  expect(await t.throughProxy(url, { cookie: `${name}=${value}` })).toBe("mine");
  expect(await trafficmock.requests(url)).toHaveLength(2);
  expect(trafficmock.id).toMatch(/^[0-9a-f]{32}$/);
});

/** A browser context gets the cookie. */
test(
  "isolation_browsers_are_tagged",
  differs("the fixtures tag the contexts of a test; for others there is cookie(url), which addCookies takes"),
  async ({ trafficmock }) => {
    const cookie = trafficmock.cookie("https://localhost:3000/shop");
    expect(cookie).toMatchObject({ value: trafficmock.id, domain: "localhost", path: "/", secure: true });
  },
);
