import type { IncomingMessage } from "node:http";
import { expect, it, test } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { stringifyExact } from "../../../src/core/json/exact-json.js";
import { CheckTimes, parseCreateBody, SchemaChecks } from "../../../src/server/http/create-request.js";

/** When a check ended, and what it took, both in ms. */
type Check = readonly [at: number, ms: number];

test.each<[Check[], number, string | undefined]>([
  [[], 0, undefined],
  [[[0, 9_999]], 0, undefined],
  [[[0, 10_000]], 0, "60"],
  [[[0, 10_000]], 59_999, "1"],
  [[[0, 10_000]], 60_000, undefined],
  [
    [
      [0, 5_000],
      [500, 5_000],
    ],
    30_000,
    "30",
  ],
  [
    [
      [0, 6_000],
      [20_000, 6_000],
    ],
    30_000,
    "30",
  ],
  [
    [
      [0, 6_000],
      [20_000, 6_000],
      [40_000, 6_000],
    ],
    50_000,
    "30",
  ],
  [
    [
      [0, 1],
      [1_000, 10_000],
    ],
    60_500,
    "1",
  ],
])("after the checks %j of a key it waits at %d ms for: %s s", (checks, at, seconds) => {
  let now = 0;
  const times = new CheckTimes({ ...systemClock, monotonic: () => now });
  for (const [ended, ms] of checks) {
    now = ended;
    times.add("mallory", ms);
  }
  now = at;
  const waits = (keyId: string) => {
    try {
      return times.checkLeft(keyId);
    } catch (error) {
      return error;
    }
  };
  expect(waits("alice")).toBeUndefined();
  const refused = {
    code: "RATE_LIMIT_EXCEEDED",
    message: expect.stringMatching(/^The checks of this key's schemas took 10 s within a minute\./),
    headers: { "Retry-After": seconds },
  };
  for (const _ of [1, 2]) {
    if (seconds === undefined) expect(waits("mallory")).toBeUndefined();
    else expect(waits("mallory")).toMatchObject(refused);
  }
});

it("the checks of one key take turns with those of others, until its time is used up", async () => {
  let now = 0;
  const times = new CheckTimes({ ...systemClock, monotonic: () => now });
  const begun: unknown[] = [];
  const checks = new SchemaChecks(times, async (schema, _signal, took) => {
    begun.push(Reflect.get(schema, "title"));
    await new Promise((resolve) => setImmediate(resolve));
    now += 5_000;
    took?.(5_000);
    return { message: "it takes too long" };
  });
  const request = { socket: {} } as IncomingMessage;
  const codeOf = (title: string) => checks.check(title, { title }, request).catch(({ code }) => code);
  const names = ["mallory", "mallory", "mallory", "mallory", "alice"];
  const [first, second, ...others] = await Promise.all(names.map(codeOf));
  expect(begun).toEqual(["mallory", "alice", "mallory"]);
  expect([first, second]).toEqual(["VALIDATION_ERROR", "VALIDATION_ERROR"]);
  expect(others).toEqual(["RATE_LIMIT_EXCEEDED", "RATE_LIMIT_EXCEEDED", "VALIDATION_ERROR"]);
  now += 60_000;
  expect(await codeOf("mallory")).toBe("VALIDATION_ERROR");
});

it("a schema is passed on exactly", () => {
  const schema = '{"const":10000000000000000001,"minimum":1.0}';
  const body = `{"prompt":"x","structured_output":true,"output_schema":${schema}}`;
  expect(stringifyExact(parseCreateBody(Buffer.from(body)).output_schema)).toBe(schema);
});

it("a body that is not UTF-8 is refused: a prompt would be another one", () => {
  const body = Buffer.from('{"prompt":"\xe9"}', "latin1");
  expect(() => parseCreateBody(body)).toThrow("The request body is not valid JSON in UTF-8.");
});
