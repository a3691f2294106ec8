/* global defineEventHandler, readBody */
import { ask } from "../utils/ask.js";

const later = (act) => new Promise((resolve) => setTimeout(() => resolve(act()), 20));

export default defineEventHandler(async (event) => {
  const { who } = await readBody(event);
  event.waitUntil(later(() => ask("wait-until", who)));
  return ask("handler", who);
});
