import { expect, test } from "vitest";
import { removeSecrets, removeServiceSecrets } from "../../../src/core/secrets/environment.js";

test.each([
  ["PATH", true, true],
  ["RESEARCH_BASE_URL", true, true],
  ["RESEARCH_API_KEYS", true, true],
  ["RESEARCH_API_KEY", false, true],
  ["RESEARCH_API_KEY_FILE", false, true],
  ["Research_Api_Key", false, true],
  ["RESEARCH_SERVE_KEY", false, false],
  ["RESEARCH_SERVE_DATABASE_URL", false, false],
  ["RESEARCH_MODEL_KEY", false, false],
  ["PGPASSWORD", false, false],
  ["pgpassword", false, false],
  ["MY_PGPASSWORD", true, true],
  ["MY_RESEARCH_API_KEY", true, true],
])("%s reaches a child: %s, a child that speaks to the service: %s", (name, any, speaking) => {
  const env = { [name]: "x" };
  expect(Object.keys(removeSecrets(env))).toEqual(any ? [name] : []);
  expect(Object.keys(removeServiceSecrets(env))).toEqual(speaking ? [name] : []);
});
