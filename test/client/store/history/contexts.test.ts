import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { History } from "../../../../src/client/store/history/history.js";
import type { HistoryEntry } from "../../../../src/client/store/history/history-records.js";
import { hashSha256 } from "../../../../src/core/files/local-error.js";
import type { ContextFile } from "../../../../src/core/protocol/conversation.js";
import { folderWith } from "../../../support/folder.js";
import { filesWith } from "../../../support/home.js";

const fileOf = (text: string, name = "notes.md"): ContextFile => ({
  ...{ name, chars: text.length, sha256: hashSha256(text), text },
});
const [A, B] = [fileOf("the first text\n"), fileOf("the second text", "more.txt")];

/** Root may read everything, so these tests become somebody else. */
const NOBODY = 65_534;

let folder: string;
beforeEach(() => {
  folder = folderWith();
});
const open = () => new History(folder, () => Date.UTC(2030, 0, 1));
const texts = () =>
  readdirSync(join(folder, "contexts")).map((name) => `${readFileSync(join(folder, "contexts", name))}`);

let nth = 0;
async function begin(...context: ContextFile[]) {
  const body = { prompt: "a question", ...(context.length > 0 && { context }) };
  const claim = await open().reserve({ origin: "https://a.example", profile: null, apiKey: "k", body }, {});
  if (!("pending" in claim)) throw new Error("the hour is full");
  return claim.pending;
}
async function create(...context: ContextFile[]): Promise<HistoryEntry> {
  const pending = await begin(...context);
  pending.recordCreated(`id-${++nth}`, { status: "COMPLETED" });
  return open().find(pending.localId)[0] as HistoryEntry;
}

describe("the texts of contexts", () => {
  test("are kept once, private, and are no part of the records", async () => {
    const [first] = [await create(A, B), await create(A), await begin(B)];
    expect(texts().sort()).toEqual([A.text, B.text]);
    for (const { text = "", sha256 } of [A, B])
      expect(filesWith(folder, text.trim())).toEqual([join(folder, "contexts", sha256)]);
    expect(statSync(join(folder, "contexts")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "contexts", A.sha256)).mode & 0o777).toBe(0o600);
    const { text: _, ...ref } = A;
    expect(first.context?.[0]).toEqual(ref);
    const lengths = open()
      .list({ limit: 9 })
      .map(({ context }) => context?.length);
    expect(lengths.sort()).toEqual([1, 1, 2]);
    expect(open().findContext(first)).toEqual([A, B]);
    expect(open().findContext(await create())).toBeUndefined();
  });

  test("go with the last record that names them", async () => {
    const [one, two] = [await create(A, B), await create(A)];
    await open().forget([one]);
    expect(texts()).toEqual([A.text]);
    await open().forget([two]);
    expect(texts()).toEqual([]);
    expect(() => open().findContext(one)).toThrow(/^the text of notes.md is not kept here any more/);
  });

  test("stay for an unknown outcome, and for one that was settled as never made, until that is forgotten", async () => {
    const { localId } = await begin(A);
    await open().forget([]);
    expect(texts()).toEqual([A.text]);
    open().resolve(localId, null);
    await open().forget([]);
    expect(texts()).toEqual([A.text]);
    await open().forget(open().find(localId));
    expect(texts()).toEqual([]);
  });

  test("go when a create was refused, unless another record names them", async () => {
    const other = await create(B);
    (await begin(A, B)).recordDismissed("VALIDATION_ERROR");
    const { ino } = statSync(join(folder, "history.jsonl"));
    await open().forget([]);
    expect(statSync(join(folder, "history.jsonl")).ino).toBe(ino);
    expect(texts()).toEqual([B.text]);
    expect(open().findContext(other)).toEqual([B]);
  });

  test("that a crash left without a record, or half written, go with the next that is forgotten", async () => {
    const kept = await create(A);
    writeFileSync(join(folder, "contexts", B.sha256), "the second text");
    writeFileSync(join(folder, "contexts", `${B.sha256}.1234.draft`), "the second");
    await open().forget([await create()]);
    expect(texts()).toEqual([A.text]);
    expect(open().findContext(kept)).toEqual([A]);
  });

  test("are gone before the record: what a crash leaves can be forgotten again", async () => {
    const entry = await create(A);
    mkdirSync(join(folder, "history.jsonl.lock", "something"), { recursive: true });
    await expect(open().forget([entry])).rejects.toThrow(/could not forget/);
    expect(texts()).toEqual([]);
    expect(open().find(entry.local_id)).toHaveLength(1);
  });

  test("stay if the history cannot be read", async () => {
    const entry = await create(A);
    renameSync(join(folder, "history.jsonl"), join(folder, "aside"));
    mkdirSync(join(folder, "history.jsonl"));
    await expect(open().forget([])).rejects.toThrow(/could not read/);
    expect(open().findContext(entry)).toEqual([A]);
  });

  test("stay if the history may not be read", async () => {
    const entry = await create(A);
    const path = join(folder, "history.jsonl");
    const isRoot = process.geteuid?.() === 0;
    const names = [
      "",
      "contexts",
      "open",
      ...readdirSync(join(folder, "contexts"), { encoding: "utf8" }).map((name) => `contexts/${name}`),
    ];
    chmodSync(path, 0);
    if (isRoot) {
      for (const name of names) chownSync(join(folder, name), NOBODY, NOBODY);
      process.seteuid?.(NOBODY);
    }
    try {
      await expect(open().forget([])).rejects.toThrow(/could not read .*permission denied/);
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(path, 0o600);
    }
    expect(open().findContext(entry)).toEqual([A]);
  });

  test("are left where those that name them are forgotten at once, and created at once", async () => {
    for (let round = 0; round < 10; round++) {
      const old = [await create(A), await create(A)];
      // Each of the two sees the record of the other.
      await Promise.all(old.map((entry) => open().forget([entry])));
      expect(texts()).toEqual([]);
      const last = await create(A);
      const [, made] = await Promise.all([open().forget([last]), create(A)]);
      expect(open().findContext(made)).toEqual([A]);
      await open().forget([made]);
    }
  });
});
