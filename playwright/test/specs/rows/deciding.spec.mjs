/** The one decision of a handler, too late, too often or never. */
import { errorOf, expect, test } from "../../lib/row.mjs";

/** A handler that returns without a decision fails the request and the test. */
test("deciding_undecided", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, () => {});
  expect(await t.get(url)).toHaveProperty("error");
  const [error] = trafficmock.takeErrors();
  expect(error.name).toBe("UndecidedError");
});

/**
 * Let two handlers keep the route of a request, each when it gets it.
 * @returns {Promise<{ kept: any[], key: string }>} the routes, of which the first is there, and the key of the outcome
 */
async function begun(t, trafficmock) {
  const url = t.url("echo");
  const kept = [];
  for (let count = 0; count < 2; count += 1) {
    await trafficmock.route(url, (route) => {
      kept.push(route);
    });
  }
  const key = await t.begin(url);
  await t.until(() => kept.length > 0);
  return { kept, key };
}

/** A route that is kept may be decided after its handler returned. */
test("deciding_decided_later", async ({ t, trafficmock }) => {
  const { kept, key } = await begun(t, trafficmock);
  await kept.pop().fallback();
  await t.until(() => kept.length > 0);
  await kept.pop().fulfill({ body: "later" });
  expect((await t.outcome(key)).body).toBe("later");
});

/** A handler that left the request to the next one decides no more. */
test("deciding_decided_after_falling_back", async ({ t, trafficmock }) => {
  const { kept, key } = await begun(t, trafficmock);
  await kept[0].fallback();
  await t.until(() => kept.length === 2);
  const error = await errorOf(() => kept[0].fulfill({ body: "too late" }));
  expect(error.message).toContain("already handled");
  await kept[1].fulfill({ body: "second" });
  expect((await t.outcome(key)).body).toBe("second");
});

/** A handler that throws after its decision keeps that; the test hears of the error. */
test("deciding_throws_after_deciding", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  await trafficmock.route(url, async (route) => {
    await route.fulfill({ body: "done" });
    throw new Error("after all");
  });
  expect((await t.get(url)).body).toBe("done");
  const errors = await t.lateErrors();
  expect(errors.map(({ message }) => message.split("\n")[0])).toEqual(["after all"]);
});

/** Deciding twice is an error; an attempt that was refused does not count. */
test("deciding_second_decision", async ({ t, trafficmock }) => {
  const url = t.url("echo");
  const errors = [];
  await trafficmock.route(url, async (route) => {
    errors.push(await errorOf(() => route.fulfill({ json: {}, body: "x" })));
    await route.fulfill({ body: "once" });
    errors.push(await errorOf(() => route.fulfill({ body: "twice" })));
  });
  expect((await t.get(url)).body).toBe("once");
  await t.until(() => errors.length === 2);
  expect(errors[0].message).toContain("either body or json");
  expect(errors[1].message).toContain("already handled");
});
