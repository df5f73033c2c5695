import { afterEach, describe, expect, test } from "vitest";
import { addProfile } from "../support/accounts.js";
import { refuse } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY as UPSTREAM_KEY } from "../support/happy-service.js";
import { foldersIn } from "../support/home.js";
import { query } from "../support/postgres.js";
import { type Running, start } from "../support/run.js";
import { until } from "../support/service.js";
import { sharedPostgres } from "../support/shared-postgres.js";
import { nameOf, POINTS, type Point, strike, wrongs } from "../support/upstream-crash.js";
import { post } from "../support/wire.js";

// A sample of `test/soak/upstream.soak.ts`, which strikes at every moment.
const postgres = await sharedPostgres();
const KEY = "test-key-0123456789";

const SAMPLE: [Point, stops: boolean, status: string][] = [
  ...[1, 2, 10].map((n): [Point, boolean, string] => [
    POINTS.runs[n] as Point,
    false,
    n < 2 ? "FAILED" : "COMPLETED",
  ]),
  [POINTS.stops[1] as Point, true, "STOPPED"],
];

test.each(SAMPLE.map(([point, ...rest]) => [nameOf(point), point, ...rest] as const))(
  "killed at `%s`: one POST, and nothing is lost or left running",
  async (name, point, stops, status) => {
    const aftermath = await strike({ database: undefined, point, how: "kill", stops, afterMs: 0 });
    expect(wrongs(aftermath), JSON.stringify(aftermath)).toEqual([]);
    // Whether an id that was just read is on the disk already is chance.
    if (name !== "create 1 read") expect(aftermath.status).toBe(status);
    expect(aftermath.posts).toBe(1);
  },
);

describe.skipIf(!postgres)("with PostgreSQL (needs PostgreSQL)", () => {
  let running: Running[] = [];
  afterEach(() => {
    for (const one of running) one.signal("SIGKILL");
    running = [];
  });

  test("a worker that is suspended past its lease while it polls: another one goes on, with one POST", async () => {
    const database = await postgres?.database();
    const point = POINTS.runs[4] as Point;
    const aftermath = await strike({ database, point, how: "suspend", stops: false, afterMs: 0 });
    expect(wrongs(aftermath)).toEqual([]);
    expect(aftermath).toMatchObject({ posts: 1, status: "COMPLETED" });
  });

  test("a process that only answers knows what its workers were refused: 429, and nothing begun", async () => {
    const there = await HappyService.start({
      fault: (operation) => (operation === "create" ? refuse(401, "INVALID_API_KEY") : undefined),
    });
    const database = (await postgres?.database()) ?? "";
    const own = foldersIn(folderWith());
    const env = { ...own, RESEARCH_SERVE_API_KEY: KEY, RESEARCH_SERVE_DATABASE: database };
    await addProfile(env, "there", there.url, UPSTREAM_KEY);
    const serve = async (...flags: string[]) => {
      const one = start(["serve", "--port", "0", ...flags], { env, timeoutMs: 120_000 });
      running.push(one);
      const [baseUrl = ""] = await one.waitFor(/http:\/\/[\d.:]+/);
      return baseUrl;
    };
    const api = await serve("--role", "api");
    await serve("--role", "worker", "--upstream", "there");
    await serve("--role", "worker", "--upstream", "there");
    const create = () => post(api, "/api/v1/conversations", KEY, { prompt: "why?" });
    expect((await create()).status).toBe(200);
    // What a process knows of refusals may be a second old.
    const refused = await until(async () => {
      const answer = await create();
      return answer.status === 429 ? answer : undefined;
    });
    expect(refused.json.error?.message).toContain("about INVALID_API_KEY");
    const rows = await query(database, "SELECT status FROM research.conversations");
    expect((await create()).status).toBe(429);
    expect(await query(database, "SELECT status FROM research.conversations")).toHaveLength(rows.length);
    const pending = "SELECT FROM research.conversations WHERE status = 'PENDING' AND starts = 0";
    await until(async () => (await query(database, pending)).length === rows.length || undefined, 30_000);
    expect(there.server.count("create")).toBeLessThanOrEqual(8);
    await there.server.close();
  });
});
