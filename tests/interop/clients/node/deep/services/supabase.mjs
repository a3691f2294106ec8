import { createClient } from "@supabase/supabase-js";
import ws from "ws";
import { HTTPS, run } from "../../lib/harness.mjs";

const supabase = createClient(`${HTTPS}/echo`, "key", {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: ws },
});

await run({
  select: () => supabase.from("orders").select("*").eq("id", 1),
  insert: () => supabase.from("orders").insert({ id: 1, text: "grün" }).select(),
  update: () => supabase.from("orders").update({ text: "new" }).eq("id", 1),
  delete: () => supabase.from("orders").delete().eq("id", 1),
  rpc: () => supabase.rpc("total", { of: 1 }),
  "sign in": () => supabase.auth.signInWithPassword({ email: "a@shop.test", password: "x" }),
  upload: () => supabase.storage.from("files").upload("a.txt", Buffer.from("contents"), { contentType: "text/plain" }),
  download: async () => (await supabase.storage.from("files").download("a.txt")).data?.size,
  function: () =>
    supabase.functions.invoke("hello", { body: { name: "me" } }).then(({ data, error }) => ({ data, error })),
});
