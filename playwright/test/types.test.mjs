/* Editors show the doc comments of the types: each call, option and property has one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";

const FILES = ["types.d.ts", "index.d.ts", "core.d.ts", "config.d.ts", "llm.d.ts", "reporter.d.ts"];

/**
 * @param {string} text of a declaration file
 * @returns {string[]} the exported names without a doc comment, and the members of interfaces without one
 */
function undocumented(text) {
  const source = ts.createSourceFile("types.d.ts", text, ts.ScriptTarget.Latest, true);
  return source.statements.filter(isExported).flatMap((statement) => {
    const names = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    const own = names.map((each) => each.name.text);
    const members = (statement.members ?? []).filter((each) => !hasComment(each));
    return [
      ...(hasComment(statement) ? [] : own),
      ...members.map((each) => `${own[0]}.${each.name?.getText(source) ?? "call"}`),
    ];
  });
}

/** Whether a statement declares what others import; a re-export has the comments of its file. */
const isExported = (statement) =>
  !ts.isExportDeclaration(statement) &&
  (statement.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const hasComment = (node) => ts.getJSDocCommentsAndTags(node).length > 0;

for (const name of FILES) {
  test(`${name}: all that tests may call or set has a doc comment`, () => {
    assert.deepEqual(undocumented(readFileSync(new URL(`../${name}`, import.meta.url), "utf8")), []);
  });
}

test("a name, a member or a call without a comment is found", () => {
  const text = `
    export interface A {
      a: string;
      /** said */
      b(): void;
      c(): void;
    }
    export const d: A;
    /** said */
    export function e(): void;
    interface Inner { x: string }`;
  assert.deepEqual(undocumented(text), ["A", "A.a", "A.c", "d"]);
});
