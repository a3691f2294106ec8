import { ask } from "../../ask.js";

export default async function handler(request, response) {
  response.send(await ask("pages-api", request.query.who));
}
