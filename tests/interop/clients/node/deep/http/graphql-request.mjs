import { gql, GraphQLClient, request } from "graphql-request";
import { HTTPS, run } from "../../lib/harness.mjs";

const QUERY = gql`
  query Viewer {
    viewer {
      login
    }
  }
`;

await run({
  request: () => request(`${HTTPS}/graphql`, QUERY),
  client: () =>
    new GraphQLClient(`${HTTPS}/graphql`, { headers: { authorization: "secret" } }).request(QUERY, { id: 1 }),
  raw: async () => (await new GraphQLClient(`${HTTPS}/graphql`).rawRequest(QUERY)).status,
  "errors of GraphQL": () => request(`${HTTPS}/graphql/errors`, QUERY),
  "status 500": () => request(`${HTTPS}/status/500`, QUERY),
  "cancelled at once": () => request({ url: `${HTTPS}/graphql`, document: QUERY, signal: AbortSignal.abort() }),
});
