import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.js";
import { openBatch, ROW_FORMS, rowName } from "../../src/machine/batch.js";
import { Machine } from "../../src/machine/machine.js";
import type { Row } from "../../src/workflows/batch/row.js";
import type { Result } from "../../src/workflows/results.js";
import { folderWith } from "../support/folder.js";

const rowOf = (id: string, digest = "d"): Row => ({ id, key: id, line: 1, body: { prompt: "q" }, digest });

function machineIn(home: string, env = {}) {
  const service = { RESEARCH_BASE_URL: "https://one.example", RESEARCH_API_KEY: "k-0123456789" };
  const all = { HOME: home, RESEARCH_NO_HISTORY: "1", ...service, ...env };
  return new Machine({ env: all, platform: "linux", clock: systemClock, choices: {} });
}

test("without a key no folder is made", async () => {
  const out = join(folderWith(), "out");
  const machine = machineIn(out, { RESEARCH_API_KEY: undefined });
  await expect(openBatch(machine, [rowOf("a")], { out, limit: 1 })).rejects.toMatchObject({
    code: "NOT_AUTHENTICATED",
  });
  expect(existsSync(out)).toBe(false);
});

test("a folder is held until the batch is closed, and by none that could not be opened", async () => {
  const home = folderWith();
  const [out, machine] = [join(home, "out"), machineIn(home)];
  const job = await openBatch(machine, [rowOf("a")], { out, limit: 1 });
  expect(job.states.map(({ row }) => row.id)).toEqual(["a"]);
  await expect(openBatch(machine, [rowOf("a")], { out, limit: 1 })).rejects.toThrow();
  job.folder.close();
  (await openBatch(machine, [rowOf("a")], { out, limit: 1 })).folder.close();
});

test("results that are there and not ours are not overwritten", async () => {
  const home = folderWith({ "out/a.md": "mine", "out/b.md": "mine" });
  const open = (...rows: Row[]) => openBatch(machineIn(home), rows, { out: join(home, "out"), limit: 1 });
  await expect(open(rowOf("a"))).rejects.toThrow(
    "holds a.md (for a) that this batch did not write; use another folder",
  );
  await expect(open(rowOf("a"), rowOf("b"))).rejects.toThrow(
    "holds a.md (for a), and 1 more, that this batch",
  );
});

test("a result that does not fit its row's schema is said, one that fits or has none is not", async () => {
  const check = (schema: object | undefined, value: unknown) => {
    const row = { ...rowOf("a"), body: { prompt: "q", ...(schema && { output_schema: schema }) } };
    const result = { value, exact: value, data: {} } as unknown as Result;
    return ROW_FORMS.check?.(result, { row } as never, new AbortController().signal);
  };
  expect(await check(undefined, 1)).toBeUndefined();
  expect(await check({ type: "number" }, 1)).toBeUndefined();
  expect(await check({ type: "string" }, 1)).toMatch(/^the result does not fit its schema: .*must be string/);
});

test("a row is named by its key, else by its line", () => {
  expect(rowName({ key: "acme", line: 3 })).toBe("acme");
  expect(rowName({ key: undefined, line: 3 })).toBe("line 3");
});
