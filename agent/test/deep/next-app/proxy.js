import { NextResponse } from "next/server";
import { ask } from "./ask.js";

export const config = { matcher: "/kinds" };

export async function proxy(request) {
  await ask("proxy", request.nextUrl.searchParams.get("who"));
  return NextResponse.next();
}
