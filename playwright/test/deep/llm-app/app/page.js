"use client";

import { useState } from "react";

export default function Page() {
  const [answer, setAnswer] = useState("");
  const [state, setState] = useState("");

  async function ask() {
    setState("thinking");
    try {
      const { body } = await fetch("/api/chat", { method: "POST" });
      for await (const text of body.pipeThrough(new TextDecoderStream())) setAnswer((answer) => answer + text);
      setState("done");
    } catch {
      setState("broken off");
    }
  }

  return (
    <>
      <button onClick={ask}>Ask</button>
      <p data-testid="answer">{answer}</p>
      <p data-testid="state">{state}</p>
    </>
  );
}
