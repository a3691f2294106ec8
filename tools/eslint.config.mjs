import js from "@eslint/js";
import globals from "globals";

/** Rules beyond the recommended ones; prettier owns the layout. */
const rules = {
  curly: ["error", "multi-line"],
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "none" }],
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": ["error", { destructuring: "all" }],
};

export default [
  {
    ignores: ["**/node_modules/", "agent/dist/", "**/.next/", "**/.nuxt/", "**/.output/", "docs/_build/", "**/*.ts"],
  },
  js.configs.recommended,
  { rules, linterOptions: { reportUnusedDisableDirectives: "error" } },
  { languageOptions: { ecmaVersion: 2023, globals: globals.node } },
  { files: ["**/*.cjs", "agent/**/*.js"], languageOptions: { sourceType: "commonjs" } },
  {
    files: ["trafficmock/dashboard/static/**"],
    languageOptions: { sourceType: "module", globals: globals.browser },
  },
];
