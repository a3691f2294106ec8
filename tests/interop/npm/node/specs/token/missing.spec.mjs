import { mustFail, test } from "../../lib/fixtures.mjs";

test("a worker without a token is told so", mustFail(/unauthorized|token/i), async ({ backendMocks }) => {
  await backendMocks.route("**", (route) => route.abort());
});
