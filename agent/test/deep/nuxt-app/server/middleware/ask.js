/* global defineEventHandler, getQuery */
import { ask } from "../utils/ask.js";

export default defineEventHandler(async (event) => {
  const { who } = getQuery(event);
  if (who) await ask("middleware", who);
});
