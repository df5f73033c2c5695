import { expect } from "vitest";
import { observe } from "./cell.js";
import { cell, onTheWay, sound, states } from "./matrix.js";
import { ROWS, type Row } from "./table.js";

function create(row: Row): void {
  const { create: does } = row;
  if (does === undefined) return;
  cell(row, "create", "", async () => {
    const seen = await observe({ play: row.play, command: "create", state: "x" });
    const exit = { "R 9": 9, U: 11, created: 0 }[does] ?? Number(does);
    sound(row, seen, exit);
    expect(seen.server.count("create")).toBe(onTheWay(row) ? 0 : 1);
    if (does === "R 9") expect(seen.elapsedMs).toBeGreaterThan(3_000);
    expect(states(seen)).toEqual(exit === 11 ? ["UNKNOWN"] : exit === 0 ? [expect.any(String)] : []);
    if (exit === 0) expect(JSON.parse(seen.stdout).request_id).toBe(seen.history[0]?.request_id);
    else expect(seen.stdout).toBe("");
    if (exit === 11) {
      const [error] = seen.errors;
      expect(error?.local_id).toBe(seen.history[0]?.local_id);
      const words = `${error?.message} ${error?.hint}`;
      expect(words).toContain(`research resolve ${error?.local_id}`);
      expect(words).not.toMatch(/\bfail|again|retry/i);
    }
  });
}

for (const row of ROWS) create(row);
