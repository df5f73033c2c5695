import { expect } from "vitest";
import { observe } from "./cell.js";
import { cell, HOUR_MS, onTheWay, sound, states } from "./matrix.js";
import { ID } from "./plays.js";
import { ROWS, type Row } from "./table.js";

function stop(row: Row): void {
  const { stop: does } = row;
  if (does === undefined) return;
  const asks = typeof does === "string" && does.startsWith("ask");
  const scene = { play: row.play, command: "stop", age: HOUR_MS } as const;
  const exit = { "R 9": 9, ask: 9, "ask R": 9, "ask 2": 2, "ask 6": 6 }[does] ?? Number(does);
  cell(row, "stop", asks ? "which took effect" : "", async () => {
    const seen = await observe({ ...scene, state: "STOPPED" });
    sound(row, seen, asks ? 0 : exit);
    expect(seen.server.count("stop")).toBe(onTheWay(row) ? 0 : 1);
    expect(states(seen)).toEqual([asks ? "STOPPED" : "PENDING"]);
    if (asks) expect(JSON.parse(seen.stdout)).toMatchObject({ request_id: ID, status: "STOPPED" });
  });
  if (!asks) return;
  cell(row, "stop", "which did not", async () => {
    const seen = await observe({ ...scene, state: "PROCESSING" });
    sound(row, seen, exit);
    expect(seen.server.count("stop")).toBe(does === "ask R" ? 4 : 1);
    // What the service said when it was asked is kept.
    expect(states(seen)).toEqual(["PROCESSING"]);
  });
}

for (const row of ROWS) stop(row);
