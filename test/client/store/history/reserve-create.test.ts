import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { History } from "../../../../src/client/store/history/history.js";
import { acquireLock } from "../../../../src/core/files/file-lock.js";
import { LocalError } from "../../../../src/core/files/local-error.js";
import { folderWith } from "../../../support/folder.js";

const HOUR = 3_600_000;
const ATTEMPT = { origin: "https://a.example", profile: null, apiKey: "k", body: { prompt: "x" } };

let folder: string;
const clock = { now: 0 };
beforeEach(() => {
  folder = folderWith();
  clock.now = Date.UTC(2030, 0, 1);
});
const open = () => new History(folder, () => clock.now);
const take = (limit: number) => open().reserve(ATTEMPT, { perHour: limit });
async function create(limit: number) {
  const claim = await take(limit);
  if (!("pending" in claim)) throw new Error("the hour is full");
  claim.pending.recordCreated(`id-${readdirSync(folder).length}-${clock.now}`, {});
}

test("to count and to begin is one step: of 40 at once, as many as the limit get a slot", async () => {
  const claims = await Promise.all(Array.from({ length: 40 }, () => take(10)));
  expect(claims.filter((claim) => "pending" in claim)).toHaveLength(10);
  expect(open().countHour(ATTEMPT, 10)).toMatchObject({ nextAt: clock.now + HOUR + 1_000 });
});

test("as many as the limit, and the next an hour and a second after the first", async () => {
  const start = clock.now;
  await create(2);
  clock.now += 1_000;
  await create(2);
  expect(await take(2)).toEqual({ fullUntil: start + HOUR + 1_000, isDay: false });
  expect(open().countHour(ATTEMPT, 2)).toEqual({
    ...{ attempts: [start, start + 1_000], nextAt: start + HOUR + 1_000 },
  });
  clock.now = start + HOUR + 1_000;
  expect(await take(2)).toHaveProperty("pending");
});

test("a create counts until an hour and a second after it", async () => {
  const start = clock.now;
  await create(1);
  const countedAfter = (ms: number) => {
    clock.now = start + ms;
    return open().countHour(ATTEMPT, 1).attempts;
  };
  expect([countedAfter(HOUR + 999), countedAfter(HOUR + 1_000)]).toEqual([[start], []]);
});

test("a clock that moves while creates are counted makes no limit full", async () => {
  const moving = new History(folder, () => clock.now++);
  const claims = [];
  for (const _ of [1, 2, 3]) claims.push(await moving.reserve(ATTEMPT, { perHour: 9, perDay: 2 }));
  expect(claims.map((claim) => "pending" in claim)).toEqual([true, true, false]);
});

test("a history that cannot be read is named, any other failure is that of the count", async () => {
  mkdirSync(join(folder, "history.jsonl"));
  await expect(take(1)).rejects.toThrow(/^could not read .*history.jsonl/);
  const broken = () => {
    throw new Error("broken");
  };
  const counting = new History(folder, broken).reserve(ATTEMPT, { perHour: 1 });
  await expect(counting).rejects.toMatchObject({
    ...{ name: "LocalError", message: "the creates of this hour could not be counted: broken" },
    cause: { message: "broken" },
  });
  // Neither of the two left the lock.
  const release = await acquireLock(join(open().folder, "hour.lock"));
  release();
});

test("creates that a clock dated a year ahead fill one hour after it is set right, and no more", async () => {
  const right = clock.now;
  clock.now += 365 * 24 * HOUR;
  for (let i = 0; i < 10; i++) await create(10);
  clock.now = right;
  expect(await take(10)).toEqual({ fullUntil: right + HOUR + 1_000, isDay: false });
  expect(open().list({ limit: 20 })).toHaveLength(10);
  clock.now = right + HOUR + 1_000;
  expect(await take(10)).toHaveProperty("pending");
});

test("a create under a clock that was set back for a while hides none of those before it", async () => {
  const right = clock.now;
  for (let i = 0; i < 2; i++) await create(3);
  clock.now -= 24 * HOUR;
  expect(await take(3)).toHaveProperty("pending");
  clock.now = right + 1_000;
  expect(await take(3)).toHaveProperty("pending");
  expect(await take(3)).toEqual({ fullUntil: right + HOUR + 1_000, isDay: false });
});

test("a lock that is held, or cannot be made, is an error of this machine", async () => {
  mkdirSync(join(folder, "hour.lock", "something"), { recursive: true });
  await expect(take(1)).rejects.toThrow(/could not be counted: .*cannot be read/);
  const nowhere = new History("/proc/x", Date.now).reserve(ATTEMPT, { perHour: 1 });
  await expect(nowhere).rejects.toThrow(LocalError);
  await expect(nowhere).rejects.toMatchObject({ cause: expect.any(Error) });
});

test("the wait for the lock ends with its signal", async () => {
  const release = await acquireLock(join(folder, "hour.lock"));
  const enough = new AbortController();
  const waiting = open().reserve(ATTEMPT, { perHour: 1 }, enough.signal);
  enough.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  release();
});
