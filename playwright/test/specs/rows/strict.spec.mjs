/** Strict mode, as a test asks for it. */
import { errorOf, expect, test } from "../../lib/row.mjs";

const CHARGES = "http://pay.test/charges";

/** A request that no route wants is refused, and fails the test. */
test("strict_from_now_on", async ({ t, trafficmock }) => {
  await trafficmock.strict({ allow: ["auth.test"] });
  await t.answer(`${CHARGES}?one`, "mine");
  expect(await t.throughProxy(`${CHARGES}?one`, trafficmock.headers)).toBe("mine");
  for (let i = 0; i < 2; i += 1) {
    const refused = await errorOf(() => t.throughProxy(CHARGES, trafficmock.headers));
    expect(refused.message).toMatch(/^403 /);
  }
  // What the proxy said before now is heard before its answer.
  await trafficmock.requests();
  const [error, ...others] = trafficmock.takeErrors();
  expect(others).toEqual([]);
  expect(error.code).toBe("unmatched_request");
  expect(error.message).toContain(`GET ${CHARGES}`);
  expect(error.message).toContain("1 more request met the same");
});

/** The list of what no test owns can be asked for; this is not on it. */
test("strict_nothing_without_a_test", async ({ t, trafficmock }) => {
  await t.throughProxy(t.url("json"), {});
  // The proxy is that of other tests, too.
  expect(JSON.stringify(await trafficmock.unmatched())).not.toContain(t.base);
});
