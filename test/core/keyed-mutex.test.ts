import { expect, test } from "vitest";
import { KeyedMutex } from "../../src/core/keyed-mutex.js";
import { gate } from "../support/gate.js";

/** A task that begins and ends in `log`, and ends when `end` is called. */
function task(log: string[], name: string) {
  const { opened: ended, open: end } = gate();
  const run = async () => {
    log.push(`${name} begins`);
    await ended;
    log.push(`${name} ends`);
    return name;
  };
  return { run, end };
}

test("tasks of one name run one after another, those of another beside them", async () => {
  const serial = new KeyedMutex();
  const log: string[] = [];
  const [first, second, other] = [task(log, "first"), task(log, "second"), task(log, "other")];
  const all = [serial.run("a", first.run), serial.run("a", second.run), serial.run("b", other.run)];
  second.end();
  other.end();
  await all[2];
  expect(log).toEqual(["first begins", "other begins", "other ends"]);
  first.end();
  expect(await Promise.all(all)).toEqual(["first", "second", "other"]);
  expect(log.slice(3)).toEqual(["first ends", "second begins", "second ends"]);
});

test("a task that fails rejects, and the next one runs", async () => {
  const serial = new KeyedMutex();
  const failed = serial.run("a", () => Promise.reject(new Error("x")));
  const next = serial.run("a", async () => 7);
  await expect(failed).rejects.toThrow("x");
  expect(await next).toBe(7);
});
