import { expect, test } from "vitest";
import {
  type Checker,
  checkOf,
  checkRequest,
  keepCheck,
  MAX_REPORT_BYTES,
  readKeptCheck,
  reportIn,
  reportOf,
} from "../../src/app/check.js";
import { History } from "../../src/client/store/history/history.js";
import type { Ports } from "../../src/client/workflows/ports.js";
import { resolveTarget } from "../../src/client/workflows/requests.js";
import { systemClock } from "../../src/core/clock.js";
import type { Checked } from "../../src/core/protocol/check-outcome.js";
import { NotChecked } from "../../src/reader/checking/check.js";
import { folderWith } from "../support/folder.js";

const named = { request_id: null, file: "x.md" };
const given = { citations: [], sources: [] };
const options = { pages: 1, timeoutMs: 1, signal: new AbortController().signal };
const checking = (check: () => Promise<unknown>) => ({ check }) as unknown as Checker;
const found = (complete = true) => ({ complete, checked_at: "t", citations: [], pages: [], counts: {} });

test.each([
  [1, 0, "no answer came from the page that it cites", "`research doctor` looks"],
  [2, 0, "no answer came from any of the 2 pages that it cites", "`research doctor` looks"],
  [1, 1, "the page that it cites could not be read", "`--json` says why"],
  [2, 1, "none of the 2 pages that it cites could be read", "`--json` says why"],
  [0, 0, "no mark of the report leads to a source", "Export the report with its links"],
])("of %d pages %d answer and none can be read: nothing is checked", async (asked, answered, why, hint) => {
  const checked = found() as unknown as Checked;
  const checker = checking(() => Promise.reject(new NotChecked(checked, asked, answered)));
  await expect(checkOf(checker, { text: "x", given }, named, options)).rejects.toMatchObject({
    ...{ code: "NOT_CHECKED", message: `${why}: nothing was checked`, outcome: { ...named, ...found() } },
    facts: { hint: expect.stringContaining(hint) },
  });
});

test("a report of 2 MiB is checked, and not a larger one", async () => {
  const checker = checking(async () => found());
  const check = (length: number) => checkOf(checker, { text: "x".repeat(length), given }, named, options);
  expect(await check(MAX_REPORT_BYTES)).toEqual({ ...named, ...found(), model: null });
  await expect(check(MAX_REPORT_BYTES + 1)).rejects.toMatchObject({
    ...{ code: "USAGE", message: "the report is over 2 MiB", facts: { hint: "Shorten it." } },
  });
  const failing = checking(() => Promise.reject(new TypeError("odd")));
  await expect(checkOf(failing, { value: 1, given }, named, options)).rejects.toThrow(TypeError);
});

/** A machine that has made a request, which has a result. */
function machine() {
  const history = new History(folderWith(), () => Date.now());
  const attempt = { origin: "https://a.example", profile: null, apiKey: "k", body: { prompt: "x" } };
  history.begin(attempt).recordCreated("id-1234", {});
  const client = { output: async () => ({ output: "x" }) } as unknown as Ports["client"];
  const ports: Ports = {
    ...{ client, history, origin: attempt.origin, basePath: "", apiKey: "k", profile: null },
    ...{ unrecorded: false, outputField: "output", clock: systemClock },
  };
  return { ports, history, target: resolveTarget(ports, "id-1234") };
}

test.each([
  ["whole", true, true, true],
  ["in part, and goes on with the same call", false, true, false],
  ["in part, and is over", false, false, true],
])("the check of a request that was done %s is kept, or not", async (_, complete, goesOn, isKept) => {
  const { ports, target } = machine();
  const checker = checking(async () => found(complete));
  const outcome = await checkRequest(checker, ports, target, { ...options, goesOn });
  expect(outcome).toEqual({ request_id: "id-1234", file: null, model: null, ...found(complete) });
  expect(readKeptCheck(ports, "id-1234")).toEqual(isKept ? outcome : undefined);
});

test("the last check of a request that was made here is kept, and read if it is one", () => {
  const { ports, history, target } = machine();
  for (const checked_at of ["1", "2"])
    keepCheck(ports, target, { ...named, ...found(), checked_at } as never);
  expect(readKeptCheck(ports, "id-1234")).toMatchObject({ checked_at: "2" });
  keepCheck(ports, { requestId: "unknown", entry: undefined }, found() as never);
  keepCheck({ ...ports, origin: "https://b.example" }, target, found() as never);
  keepCheck({ ...ports, history: undefined }, target, found() as never);
  expect(readKeptCheck(ports, "unknown")).toBeUndefined();
  expect(readKeptCheck({ ...ports, origin: "https://b.example" }, "id-1234")).toBeUndefined();
  expect(readKeptCheck({ ...ports, history: undefined }, "id-1234")).toBeUndefined();
  for (const text of ["{", "null", "{}", '{"citations":[]}', '{"counts":{}}']) {
    history.checks.keep(ports.origin, "id-1234", text, true);
    expect(readKeptCheck(ports, "id-1234"), text).toBeUndefined();
  }
});

test.each<[string, string, unknown, object]>([
  ["x.JSON", '{"output":"x","model":"m"}', "x", { output: "x", model: "m" }],
  ["x.json", '{"a":1}', { a: 1 }, {}],
  ["x.json", "[1]", [1], {}],
  ["x.json", "null", null, {}],
  ["x.json.md", '{"output":"x"}', '{"output":"x"}', {}],
])("the report in %s that holds %s", (file, text, value, data) => {
  const { report, result } = reportIn(text, file);
  expect(result).toMatchObject({ value, data });
  expect(report).toEqual(typeof value === "string" ? { text: value, given } : { value, given });
});

test("what is not text, or not JSON, is no report", () => {
  const hint = "Give a report in Markdown, or what `output --json` printed.";
  const isNotText = expect.objectContaining({ message: "x.md is not text", facts: { hint } });
  expect(() => reportIn("a\0b", "x.md")).toThrow(isNotText);
  expect(() => reportIn("{", "x.json")).toThrow("x.json is not JSON");
});

test("the addresses of a provider's sources are given in their order", () => {
  const sources = [{ url: "https://a.example" }, { url: 5 }, null];
  expect(reportOf({ data: { sources }, value: 1 }).given.sources).toEqual(["https://a.example", "", ""]);
});
