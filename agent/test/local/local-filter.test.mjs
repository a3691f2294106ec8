import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const { Filter } = createRequire(import.meta.url)("../../src/local/filter.js");

/** @returns {any} a filter with these entries */
function filterOf(...entries) {
  const filter = new Filter();
  for (const entry of entries) filter.add(Array.isArray(entry) ? { texts: entry } : entry);
  return filter;
}

const API = "https://api.test/v1/prices/7?currency=eur";

describe("the filter", () => {
  for (const [title, texts, isAsked] of [
    ["the whole URL", [API], true],
    ["another URL", ["https://api.test/v1/prices/7"], false],
    ["a beginning", ["https://api.test/v1/", ""], true],
    ["a beginning that ends within a component", ["https://api.test/v1/pri", ""], true],
    ["another host", ["https://other.test/v1/", ""], false],
    ["an ending", ["", "/7?currency=eur"], true],
    ["an ending that begins within a component", ["", "eur"], true],
    ["a short ending", ["", "r"], true],
    ["another ending", ["", "/8?currency=eur"], false],
    ["a component", ["", "/prices/", ""], true],
    ["another component", ["", "/price/", ""], false],
    ["text within a component", ["", "curr", ""], true],
    ["a short text", ["", "v1", ""], true],
    ["another short text", ["", "v2", ""], false],
    ["texts that overlap", ["https://api.test/", "/v1/prices/7?currency=eur"], true],
    ["texts of which one is missing", ["https://api.test/", "/v2/", "eur"], false],
    ["several texts", ["https://api.test/", "/prices/", "=eur"], true],
  ]) {
    test(`${title}: ${isAsked ? "asked" : "passes"}`, () => {
      assert.equal(filterOf(texts).asks(API), isAsked);
      const crowd = Array.from({ length: 200 }, (_, n) => [`https://api.test/v1/${n}/`, `/x${n}`, ""]);
      assert.equal(filterOf(...crowd, texts).asks(API), isAsked);
    });
  }

  test("entries for any request, and what is no entry", () => {
    for (const entry of [{ all: true }, {}, null, 7, { texts: [""] }, { texts: [] }, { texts: [7] }]) {
      const filter = new Filter();
      filter.add(entry);
      assert.equal(filter.asks(API), true, JSON.stringify(entry));
      filter.drop(entry);
      assert.equal(filter.asks(API), false, JSON.stringify(entry));
    }
  });

  test("contexts", () => {
    const filter = filterOf({ context: "a" });
    assert.equal(filter.asks(API, "a"), true);
    assert.equal(filter.asks(API, "b"), false);
    assert.equal(filter.asks(API, undefined), false);
    filter.drop({ context: "a" });
    assert.equal(filter.asks(API, "a"), false);
  });

  test("an entry that is added twice is dropped once, and nothing is left of it", () => {
    const all = [["x"], ["https://api.test/", ""], ["", "/prices/", ""], ["", "eur"], ["", "r"], ["", "urre", ""]];
    const filter = filterOf(...all, ...all);
    for (const texts of all) {
      assert.equal(filter.asks(API), true);
      filter.drop({ texts });
      filter.drop({ texts });
    }
    assert.equal(filter.asks(API), false);
    const { known, exact, beginnings, endings, components, tails, pieces, rest } = filter;
    for (const table of [known, exact, beginnings, endings, components, tails, pieces, rest]) {
      assert.equal(table.size, 0);
    }
  });

  test("among too many to look at it asks", () => {
    const crowd = Array.from({ length: 60 }, (_, n) => ["", `~${String.fromCharCode(64 + n)}`, ""]);
    assert.equal(filterOf(...crowd.slice(0, 9)).asks(API), false);
    assert.equal(filterOf(...crowd).asks(API), true);
  });
});
