import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { buildIntent } from "../../../../src/client/store/history/history-records.js";
import {
  buildCreatedRecord,
  buildUnknownEntry,
  OpenIntents,
} from "../../../../src/client/store/history/open-intents.js";
import { parseExact, stringifyExact } from "../../../../src/core/json/exact-json.js";
import type { JsonSchema } from "../../../../src/core/protocol/conversation.js";
import { folderWith } from "../../../support/folder.js";

const intent = (prompt = "ü\n") =>
  buildIntent(
    { origin: "https://a.example", profile: "work", apiKey: "k", body: { prompt } },
    "2030-01-01T00:00:00Z",
  );
const OUTCOME = {
  ...{ request_id: "id-1", confirmed: true, status: "PENDING", created_at: null, at: "2030-01-01T00:00:01Z" },
};

let folder: string;
let open: OpenIntents;
beforeEach(() => {
  folder = join(folderWith(), "open");
  open = new OpenIntents(folder);
});

test("an intent is there until it is removed", () => {
  expect(open.read()).toEqual({ open: [], torn: 0 });
  const record = intent();
  open.add(record);
  expect(open.read()).toMatchObject({ open: [{ intent: record, outcome: undefined }], torn: 0 });
  expect([open.remove(record.local_id), open.remove(record.local_id)]).toEqual([true, true]);
  expect(readdirSync(folder)).toEqual([]);
});

test("an outcome takes no more room than was made for it", () => {
  const record = intent("é".repeat(500));
  open.add(record);
  const path = join(folder, `${record.local_id}.json`);
  const before = readFileSync(path).length;
  open.note(record, OUTCOME);
  expect(open.read().open).toMatchObject([{ intent: record, outcome: OUTCOME }]);
  open.note(record, { ...OUTCOME, request_id: "id-2", status: "x".repeat(2_000) });
  expect(open.read().open[0]?.outcome).toEqual({ ...OUTCOME, request_id: "id-2" });
  expect(readFileSync(path).length).toBe(before);
});

test("an outcome does not touch a schema that was read as it stands, nor does the end of its sender", () => {
  const schema = '{ "maximum": 12345678901234567890, "a": 1.0, "a": "\\u00e9" }';
  const { output_schema } = parseExact(`{"output_schema":${schema}}`, "output_schema") as {
    output_schema: JsonSchema;
  };
  const record = { ...intent(), output_schema };
  open.add(record);
  open.note(record, OUTCOME);
  open.recordGivenUp(record);
  const [found] = open.read().open;
  expect(found).toMatchObject({ outcome: OUTCOME, sender: undefined });
  expect(stringifyExact(found?.intent.output_schema)).toBe(schema.replaceAll(" ", ""));
});

test("an outcome as long as the room is cut to what is needed, and the sender stays", () => {
  const record = intent();
  open.add(record);
  const outcome = { ...OUTCOME, status: "" };
  open.note(record, { ...outcome, status: "x".repeat(1_024 - JSON.stringify(outcome).length) });
  expect(open.read().open).toMatchObject([{ outcome: OUTCOME, sender: { pid: process.pid } }]);
  open.note(record, { ...outcome, status: "x".repeat(1_023 - JSON.stringify(outcome).length) });
  expect(open.read().open[0]?.outcome?.status).toMatch(/^x+$/);
});

test("an intent that is given up has no sender, and keeps its outcome; one that is gone is none", () => {
  const record = intent();
  open.add(record);
  open.note(record, OUTCOME);
  expect(open.read().open[0]?.sender).toMatchObject({ pid: process.pid });
  open.recordGivenUp(record);
  expect(open.read().open).toEqual([{ intent: record, outcome: OUTCOME, sender: undefined }]);
  open.remove(record.local_id);
  expect(() => open.recordGivenUp(record)).not.toThrow();
  expect(open.read().open).toEqual([]);
});

test("an intent that cannot be written or removed says so", () => {
  const record = intent();
  mkdirSync(join(folder, `${record.local_id}.json`, "below"), { recursive: true });
  expect(() => open.add(record)).toThrow();
  expect(open.remove(record.local_id)).toBe(false);
});

test("what is no regular file is torn, and what cannot be read is an error", () => {
  mkdirSync(join(folder, "folder.json"), { recursive: true });
  expect(open.read()).toEqual({ open: [], torn: 1 });
  rmSync(join(folder, "folder.json"), { recursive: true });
  symlinkSync("loop.json", join(folder, "loop.json"));
  expect(() => open.read()).toThrow(/ELOOP/);
});

test("a file that is gone by the time it is read is not torn", () => {
  open.add(intent());
  // Listed like a file, and not there when it is opened.
  symlinkSync(join(folder, "gone"), join(folder, "local-1.json"));
  expect(open.read()).toMatchObject({ open: [{}], torn: 0 });
});

test("torn files and other files are told apart", () => {
  open.add(intent());
  writeFileSync(join(folder, "torn.json"), '{"kind":"int');
  writeFileSync(join(folder, "draft.tmp"), "");
  expect(open.read()).toMatchObject({ open: [{ outcome: undefined }], torn: 1 });
});

test("an entry and a record are made of an intent", () => {
  const record = intent();
  const { kind: _, ...rest } = record;
  const { confirmed: __, ...found } = OUTCOME;
  expect(buildCreatedRecord(record, OUTCOME)).toEqual({ ...rest, kind: "created", ...found });
  expect(buildUnknownEntry({ intent: record, outcome: undefined })).toEqual({
    ...{ ...rest, request_id: null, status: "UNKNOWN", created_at: null },
  });
  expect(buildUnknownEntry({ intent: record, outcome: OUTCOME }).request_id).toBe("id-1");
});
