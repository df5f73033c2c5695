import { expect, test } from "vitest";
import type { Command, Observed } from "./cell.js";
import { ways } from "./plays.js";
import type { Row } from "./table.js";

export const HOUR_MS = 3_600_000;
/** Four tries within about 4 s, each wait up to a fifth longer. */
const TRIES_MS = 5_000;

/** Whether nothing of a request reaches the service. */
export const onTheWay = (row: Row) => row.play.on === "way";

/** What is so in every cell: no key anywhere, one error of the right kind where there is one, in bounded time. */
export function sound(row: Row, seen: Observed, exit: number): void {
  expect(seen.leaks).toEqual([]);
  expect(seen.server.errors).toEqual([]);
  expect(seen, `${seen.stdout}\n${seen.stderr}`).toMatchObject({ code: exit, signal: null });
  if (exit === 0) {
    expect(seen.errors).toEqual([]);
    return;
  }
  expect(seen.elapsedMs).toBeLessThan(TRIES_MS);
  expect(seen.errors).toHaveLength(1);
  const [error] = seen.errors;
  expect(error?.exit_code).toBe(exit);
  expect(error?.code).toBe(exit === 11 ? "OUTCOME_UNKNOWN" : row.code);
  const words = `${error?.message} ${error?.hint}`;
  if (row.says && exit !== 11) expect(words).toMatch(row.says);
  if (row.wait === null) expect(error).not.toHaveProperty("retry_after");
  else if (row.wait !== undefined) expect(error?.retry_after).toBe(row.wait);
}

/** The states in the history afterwards. */
export const states = (seen: Observed) => seen.history.map(({ status }) => status);

/** A test of the matrix; the last line of a run counts them. */
export function cell(row: Row, command: Command, what: string, run: () => Promise<void>): void {
  // A peer that gets no turn within a few milliseconds resets too late to prove anything, and then 11 is right.
  const retry = row.play === ways.resetOnAccept ? 5 : 0;
  test(`cell: ${row.fault} · ${command}${what && `, ${what}`}`, { retry }, run);
}
