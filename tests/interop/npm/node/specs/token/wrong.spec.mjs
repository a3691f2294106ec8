import { mustFail, test } from "../../lib/fixtures.mjs";

test.use({ backendMocksToken: "not-the-token" });

test("a worker with a wrong token is told so", mustFail(/unauthorized|token/i), async ({ backendMocks }) => {
  await backendMocks.route("**", (route) => route.abort());
});
