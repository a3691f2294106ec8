import { ask } from "../ask.js";

export async function getServerSideProps({ query }) {
  return { props: { said: await ask("server-side-props", query.who) } };
}

export default function Page({ said }) {
  return <p>{said}</p>;
}
