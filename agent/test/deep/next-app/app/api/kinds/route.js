import { after } from "next/server";
import { ask } from "../../../ask.js";

const whoOf = (request) => new URL(request.url).searchParams.get("who");

export async function GET(request) {
  const who = whoOf(request);
  after(() => ask("after-handler", who));
  return new Response(await ask("handler", who));
}

export async function POST(request) {
  const { who } = await request.json();
  return new Response(await ask("handler-body", who));
}
