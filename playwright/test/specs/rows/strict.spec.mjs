/** Strict mode, as a test asks for it. */
import { errorOf, expect, meaningless, ours, test } from "../../lib/row.mjs";

const CHARGES = "http://pay.test/charges";

/** A request that no route wants is refused, and fails the test. */
test("strict_from_now_on", async ({ t, trafficmock }) => {
  ours();
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

test.skip(
  "strict_nothing_without_a_test",
  meaningless("the fixture trafficmockStrict asks for the list itself, and fails the worker with it"),
  () => {},
);
