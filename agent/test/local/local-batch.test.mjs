import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const { Batch } = createRequire(import.meta.url)("../../src/local/batch.js");

/** @returns {string[]} what is sent of these texts, with this limit */
function sent(bytes, texts) {
  const messages = [];
  const batch = new Batch((text) => messages.push(text));
  batch.limitTo(bytes);
  for (const text of texts) batch.add(JSON.stringify(text));
  batch.flush();
  return messages;
}

/** @returns {string[]} the texts in what was sent, in order */
const textsIn = (messages) => messages.map((text) => JSON.parse(text)).flatMap((each) => each.messages ?? each);

describe("a batch", () => {
  for (const [title, text] of [
    ["ASCII", "a".repeat(100)],
    ["characters of three bytes", "€".repeat(100)],
    ["characters that JSON writes with a backslash", '"\n'.repeat(50)],
  ]) {
    test(`is no longer than the proxy takes: ${title}`, () => {
      const texts = Array.from({ length: 200 }, (_, n) => `${n}${text}`);
      for (const most of [1000, 4000]) {
        const messages = sent(most, texts);
        assert.ok(messages.length < texts.length, "several go together");
        for (const each of messages) assert.ok(Buffer.byteLength(each) <= most);
        assert.deepEqual(textsIn(messages), texts);
      }
    });
  }

  test("has not what is nearly as long as the proxy takes: that goes alone, in its turn", () => {
    const texts = ["before", "b".repeat(590), "after"];
    const messages = sent(600, texts);
    assert.equal(messages.length, 3);
    assert.equal(messages[1], JSON.stringify(texts[1]));
    assert.deepEqual(textsIn(messages), texts);
  });

  test("has at most 64 messages and 256 KiB, whatever the proxy takes", () => {
    for (const limit of [undefined, 2 ** 40]) {
      assert.equal(sent(limit, Array(65).fill("a")).length, 2);
      for (const each of sent(limit, Array(65).fill("€".repeat(10_000)))) assert.ok(Buffer.byteLength(each) < 2 ** 18);
    }
  });
});
