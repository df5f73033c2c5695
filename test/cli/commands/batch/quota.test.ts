import { expect, test } from "vitest";
import { answer, errorEnvelope, refuse } from "../../../support/behaviours.js";
import { machine } from "../../../support/machine.js";
import { until } from "../../../support/service.js";

const HOUR = 3_600_000;
test("quota counts this machine's creates of the last hour for one origin and key, and says so", async () => {
  const { clock, run, creates } = await machine();
  for (let i = 0; i < 3; i++) await run("create", `question ${i}`);
  await clock.sleep(60_000);
  const { code, stdout, stderr } = await run("quota", "--tier", "free");
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /^3 of 10 creates used .* 7 left; the next one may be sent now\nlast 24h: 3 requests/,
    ),
  ]);
  expect(stderr).toContain("this machine's own records");
  const json = JSON.parse((await run("quota", "--per-hour", "3", "--json")).stdout);
  expect(json).toMatchObject({ used: 3, left: 0, limit: 3, counted_from: "this machine's own records" });
  expect(Date.parse(json.next_slot_at) - clock.now()).toBeGreaterThan(HOUR - 62_000);
  expect(Date.parse(json.next_slot_at) - clock.now()).toBeLessThan(HOUR - 58_000);
  await clock.sleep(HOUR);
  expect(JSON.parse((await run("quota", "--tier", "free", "--json")).stdout)).toMatchObject({
    used: 0,
    left: 10,
  });
  expect(creates()).toBe(3);
});

test("quota without a limit tells what was used and how to set one; enterprise has none", async () => {
  const { run } = await machine();
  await run("create", "question");
  const { stdout, stderr } = await run("quota");
  expect(stdout).toMatch(/^1 create in the last hour/);
  expect(stderr).toContain("--tier");
  const json = JSON.parse((await run("quota", "--json", "--tier", "enterprise")).stdout);
  expect(json).toMatchObject({ used: 1, left: null, limit: null, next_slot_at: null });
});

test("an unknown outcome counts, one settled as never made does not, and a 429 never did", async () => {
  const { run } = await machine({
    fault: (operation, nth) => {
      if (operation !== "create") return undefined;
      if (nth === 1) return { act: (socket) => void socket.resetAndDestroy() };
      return refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 9 });
    },
  });
  const used = async () => JSON.parse((await run("quota", "--json")).stdout).used;
  expect((await run("create", "lost")).code).toBe(11);
  expect((await run("create", "too many")).code).toBe(7);
  expect(await used()).toBe(1);
  const { local_id } = JSON.parse((await run("list", "--json")).stdout)[0];
  await run("resolve", local_id, "--not-created");
  expect(await used()).toBe(0);
});

test("with a tier set create and run say what is left, and without one they are silent", async () => {
  const { run } = await machine();
  expect((await run("create", "one")).stderr).not.toMatch(/left/);
  expect((await run("create", "two", "--tier", "free")).stderr).toContain(
    "8 of 10 creates left in this hour",
  );
  expect((await run("run", "three", "--per-hour", "3")).stderr).toContain(
    "0 of 3 creates left in this hour; the next one is allowed at 2",
  );
  await run("config", "set", "tier", "pro");
  expect((await run("create", "four", "--json")).stderr).toBe(
    '{"notice":{"code":"QUOTA","message":"96 of 100 creates left in this hour"}}\n',
  );
});

test("a full hour is known before anything is sent: exit 7, or --wait-for-quota waits and says until when", async () => {
  const { run, creates, clock } = await machine();
  const start = clock.now();
  await run("create", "one", "--per-hour", "1");
  const refused = await run("create", "two", "--per-hour", "1", "--json");
  expect([refused.code, creates()]).toEqual([7, 1]);
  expect(JSON.parse(refused.stderr).error).toMatchObject({
    code: "RATE_LIMITED",
    exit_code: 7,
    retry_after: 3601,
  });
  const waited = await run("create", "two", "--per-hour", "1", "--wait-for-quota");
  expect([waited.code, creates()]).toEqual([0, 2]);
  expect(waited.stderr).toMatch(/waiting 1h 00m, until 2030-01-01T01:00:0\d/);
  expect(clock.now() - start).toBeGreaterThanOrEqual(HOUR);
});

test("--wait-for-quota waits out a 429 for its Retry-After, and at least a minute without one", async () => {
  const { run, clock, creates } = await machine({
    fault: (operation, nth) => {
      if (operation !== "create" || nth > 2) return undefined;
      return nth === 1
        ? refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 1_000 })
        : answer({ status: 429, body: errorEnvelope("RATE_LIMIT_EXCEEDED") });
    },
  });
  const start = clock.now();
  const { code, stderr } = await run("create", "one", "--wait-for-quota");
  expect([code, creates()]).toEqual([0, 3]);
  expect(stderr).toMatch(/waiting 16m 40s.*\n.*waiting 1m 00s/);
  expect(clock.now() - start).toBe(1_060_000);
});

test("an interrupted wait sends nothing", async () => {
  const { run, start, clock, creates } = await machine();
  await run("create", "one", "--per-hour", "1");
  const resume = clock.hold();
  const waiting = start("create", "two", "--per-hour", "1", "--wait-for-quota");
  await until(async () => waiting.stderr.includes("waiting") || undefined);
  waiting.signal("SIGINT");
  const { signal, stdout } = await waiting.done;
  resume();
  expect([signal, stdout, creates()]).toEqual(["SIGINT", "", 1]);
});
