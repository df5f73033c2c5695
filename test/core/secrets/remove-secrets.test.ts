import { expect, test } from "vitest";
import { removeSecrets } from "../../../src/core/secrets/remove-secrets.js";

test.each([
  ["PATH", true],
  ["RESEARCH_BASE_URL", true],
  ["RESEARCH_API_KEYS", true],
  ["RESEARCH_API_KEY", false],
  ["RESEARCH_API_KEY_FILE", false],
  ["Research_Api_Key", false],
  ["RESEARCH_SERVE_KEY", false],
  ["RESEARCH_SERVE_DATABASE_URL", false],
  ["RESEARCH_MODEL_KEY", false],
  ["PGPASSWORD", false],
  ["pgpassword", false],
  ["MY_PGPASSWORD", true],
  ["MY_RESEARCH_API_KEY", true],
])("%s reaches a child: %s", (name, isPassed) => {
  const env = { [name]: "x" };
  expect(Object.keys(removeSecrets(env))).toEqual(isPassed ? [name] : []);
});
