import { Octokit } from "octokit";
import { run } from "../../lib/harness.mjs";

const octokit = new Octokit({
  auth: "token",
  retry: { enabled: false },
  throttle: { enabled: false },
  log: { debug() {}, info() {}, warn() {}, error() {} },
});
const repository = { owner: "o", repo: "r" };

await run({
  get: () => octokit.rest.issues.get({ ...repository, issue_number: 9 }).then(({ data }) => data),
  create: () =>
    octokit.rest.issues.create({ ...repository, title: "grün" }).then(({ status, data }) => ({ status, data })),
  paginate: () => octokit.paginate(octokit.rest.issues.listForRepo, repository),
  graphql: () => octokit.graphql("query { viewer { login } }"),
  "status 404": () => octokit.request("GET /repos/{owner}/{repo}", { owner: "o", repo: "missing" }),
  "cancelled at once": () => octokit.request("GET /user", { request: { signal: AbortSignal.abort() } }),
});
