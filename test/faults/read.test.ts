import { expect } from "vitest";
import { observe } from "./cell.js";
import { cell, HOUR_MS, onTheWay, sound, states } from "./matrix.js";
import { ROWS, type Row } from "./table.js";

function read(row: Row, command: "status" | "output", does: Row["status"]): void {
  if (does === undefined) return;
  cell(row, command, "", async () => {
    const seen = await observe({ play: row.play, command, age: HOUR_MS, everything: true });
    const exit = { "R 9": 9, shown: 0 }[does] ?? Number(does);
    sound(row, seen, exit);
    expect(seen.server.count(command)).toBe(onTheWay(row) ? 0 : does === "R 9" ? 4 : 1);
    if (exit !== 0) expect(states(seen)).toEqual(["PENDING"]);
    else expect(seen.stdout).not.toBe("");
  });
}

for (const row of ROWS) {
  read(row, "status", row.status);
  if (row.output !== null) read(row, "output", row.output ?? row.status);
}
