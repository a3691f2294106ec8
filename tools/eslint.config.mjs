import js from "@eslint/js";
import globals from "globals";

/** Rules beyond the recommended ones; prettier owns the layout. */
const rules = {
  curly: ["error", "multi-line"],
  eqeqeq: ["error", "always", { null: "ignore" }],
  // Playwright reads from the pattern which fixtures one wants: none.
  "no-empty-pattern": ["error", { allowObjectPatternsAsParameters: true }],
  // Control characters are what such expressions look for.
  "no-control-regex": "off",
  // Called on the class of a stream, which always has the method.
  "no-prototype-builtins": "off",
  "no-unused-vars": [
    "error",
    { argsIgnorePattern: "^_", varsIgnorePattern: "^_", caughtErrors: "none", ignoreRestSiblings: true },
  ],
  "no-var": "error",
  "object-shorthand": ["error", "properties"],
  "prefer-const": ["error", { destructuring: "all" }],
};

export default [
  {
    ignores: [
      ".*/",
      "_trial_temp*/",
      "build/",
      "dist/",
      "**/node_modules/",
      "agent/dist/",
      "agent/test/deep/*/dist/",
      "**/.next/",
      "**/.nuxt/",
      "**/.output/",
      "docs/_build/",
      "**/*.ts",
    ],
  },
  js.configs.recommended,
  { rules, linterOptions: { reportUnusedDisableDirectives: "error" } },
  { languageOptions: { ecmaVersion: 2023, globals: globals.node } },
  { files: ["**/*.cjs", "{agent,playwright,proxy}/**/*.js"], languageOptions: { sourceType: "commonjs" } },
  {
    files: ["agent/test/deep/*-app/**/*.js", "playwright/test/deep/*-app/**/*.js"],
    languageOptions: { sourceType: "module", parserOptions: { ecmaFeatures: { jsx: true } } },
  },
  { files: ["agent/test/deep/jest-app/**", "**/*jest.test.cjs"], languageOptions: { globals: globals.jest } },
  {
    files: ["trafficmock/dashboard/static/**", "tests/interop/browsers/pages/**"],
    languageOptions: { sourceType: "module", globals: globals.browser },
  },
];
