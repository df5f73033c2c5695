import { describe, expect, test } from "vitest";
import { sharedPostgres } from "../support/shared-postgres.js";
import { nameOf, POINTS, type Point, strike, wrongs } from "../support/upstream-crash.js";

// A sample of `test/soak/upstream.soak.ts`, which strikes at every moment.
const { postgres, newDatabase } = await sharedPostgres();

const SAMPLE: [Point, stops: boolean, status: string][] = [
  [POINTS.runs[1] as Point, false, "FAILED"],
  [POINTS.runs[10] as Point, false, "COMPLETED"],
  [POINTS.stops[1] as Point, true, "STOPPED"],
];

test.each(SAMPLE.map(([point, ...rest]) => [nameOf(point), point, ...rest] as const))(
  "killed at `%s`: one POST, and nothing is lost or left running",
  async (_, point, stops, status) => {
    const aftermath = await strike({ database: undefined, point, how: "kill", stops, afterMs: 0 });
    expect(wrongs(aftermath), JSON.stringify(aftermath)).toEqual([]);
    expect(aftermath).toMatchObject({ posts: 1, status });
  },
);

describe.skipIf(!postgres)("with PostgreSQL (needs PostgreSQL)", () => {
  test("a worker that is suspended past its lease while it polls: another one goes on, with one POST", async () => {
    const database = await newDatabase();
    const point = POINTS.runs[4] as Point;
    const aftermath = await strike({ database, point, how: "suspend", stops: false, afterMs: 0 });
    expect(wrongs(aftermath)).toEqual([]);
    expect(aftermath).toMatchObject({ posts: 1, status: "COMPLETED" });
  });
});
