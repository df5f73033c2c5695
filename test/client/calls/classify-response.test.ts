import { expect, test } from "vitest";
import { classifyResponse } from "../../../src/client/calls/classify-response.js";
import { createGeminiDialect } from "../../../src/client/dialects/gemini.js";

const NOW = Date.UTC(2030, 0, 1);

/** What a 429 of Gemini's means whose body asks for one wait and whose header for another. */
function refusalWith(retryDelay: string | undefined, headers: Record<string, string>) {
  const error = { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay }] };
  const body = Buffer.from(JSON.stringify({ error }));
  const asked = { dialect: createGeminiDialect("m"), target: "POST x", peer: "x", now: NOW };
  return classifyResponse(
    { kind: "answer", status: 429, headers, body },
    { ...asked, operation: "create" as const },
  );
}

test.each<[string, string | undefined, Record<string, string>, number | undefined]>([
  ["of two waits the longer one holds: the body's", "34.07s", { "retry-after": "5" }, 35],
  ["of two waits the longer one holds: the header's", "34.07s", { "retry-after": "60" }, 60],
  ["one alone holds", "34.07s", {}, 35],
  ["a moment in the body is one, too", `${NOW / 1_000 + 9}s`, {}, 9],
  [
    "a moment in the body is of the answer's own clock",
    `${NOW / 1_000 + 9}s`,
    { date: "Tue, 01 Jan 2030 00:00:04 GMT" },
    5,
  ],
  ["a moment that is past is no time", `${NOW / 1_000 - 9}s`, {}, undefined],
])("%s", (_, retryDelay, headers, retryAfter) => {
  const { error } = refusalWith(retryDelay, headers) as { error: unknown };
  expect(error).toMatchObject({ kind: "rate-limited", retryAfter });
});
