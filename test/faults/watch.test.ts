import { expect } from "vitest";
import { observe } from "./cell.js";
import { cell, HOUR_MS, onTheWay, sound, states } from "./matrix.js";
import { ID } from "./plays.js";
import { ROWS, type Row } from "./table.js";

/** A poll that is told to wait longer is made after 15 minutes all the same (contract, *How long a limit lasts*). */
const LONGEST_POLL_WAIT_S = 15 * 60;

const polls = (from: number, to: number) => (nth: number) => nth >= from && nth <= to;

/** The watch goes on over three polls that go wrong, and says so twice. */
async function goesOn(row: Row, from: number): Promise<void> {
  const wrongPolls = polls(from, from + 2);
  const seen = await observe({ play: row.play, command: "watch", age: HOUR_MS, wrongPolls });
  sound(row, seen, 0);
  const codes = seen.notices.filter((code) => code === "TROUBLE" || code === "RECOVERED");
  expect(codes).toEqual(["TROUBLE", "RECOVERED"]);
  expect(seen.server.count("status")).toBe(from + 3);
  expect(states(seen)).toEqual(["COMPLETED"]);
  if (!row.wait) return;
  const last = JSON.parse(seen.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last.elapsed_ms).toBeGreaterThanOrEqual(3 * Math.min(row.wait, LONGEST_POLL_WAIT_S) * 1_000);
}

/** The watch ends at its first poll; the error has the line that goes on, unless the id is not known there. */
async function ends(row: Row, exit: number): Promise<void> {
  const seen = await observe({ play: row.play, command: "watch", age: HOUR_MS });
  sound(row, seen, exit);
  expect(seen.server.count("status")).toBe(onTheWay(row) ? 0 : 1);
  expect(JSON.parse(seen.stdout)).toMatchObject({ request_id: ID, final: false, error: { exit_code: exit } });
  const resumes = String(seen.errors[0]?.hint).includes(`research watch ${ID}`);
  expect(resumes).toBe(exit !== 5);
}

function watch(row: Row): void {
  const { watch: does } = row;
  if (does === undefined) return;
  const exit = Number(/\d+/.exec(String(does))?.[0]);
  if (onTheWay(row) && does === "K") {
    cell(row, "watch", "until patience ends", async () => {
      const flags = ["--interval", "50ms", "--patience", "1s"];
      const seen = await observe({ play: row.play, command: "watch", age: HOUR_MS, flags });
      sound(row, seen, 9);
      expect(seen.elapsedMs).toBeGreaterThanOrEqual(1_000);
      expect(seen.notices.filter((code) => code === "TROUBLE")).toHaveLength(1);
      expect(seen.errors[0]?.hint).toContain(`research watch ${ID}`);
    });
  } else if (does === "K") cell(row, "watch", "from the start", () => goesOn(row, 1));
  else {
    cell(row, "watch", "at the start", () => ends(row, exit));
    if (String(does).endsWith("K") && !onTheWay(row)) cell(row, "watch", "later", () => goesOn(row, 2));
  }
}

for (const row of ROWS) watch(row);
