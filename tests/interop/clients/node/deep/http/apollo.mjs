import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { HTTPS, run } from "../../lib/harness.mjs";

const of = (path) => new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: HTTPS + path }) });
const QUERY = gql`
  query Viewer($id: ID) {
    viewer(id: $id) {
      login
    }
  }
`;

await run({
  query: async () => (await of("/graphql").query({ query: QUERY, variables: { id: 1 } })).data,
  mutation: async () =>
    (
      await of("/graphql").mutate({
        mutation: gql`
          mutation {
            rename {
              login
            }
          }
        `,
      })
    ).data,
  "from the cache": async () => {
    const client = of("/graphql");
    return [await client.query({ query: QUERY }), await client.query({ query: QUERY })].map(({ data }) => data);
  },
  "status 500": () => of("/status/500").query({ query: QUERY }),
  "not JSON": () => of("/text").query({ query: QUERY }),
  "errors of GraphQL": () => of("/graphql/errors").query({ query: QUERY }),
});
