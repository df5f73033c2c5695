import { expect, test } from "vitest";
import type { Behaviour } from "../support/behaviours.js";
import * as does from "../support/behaviours.js";
import { plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, worldOf } from "../support/world.js";
import { ID } from "./plays.js";

const MINUTE = 60_000;
const BAD: Record<string, Behaviour> = {
  "reset after the whole body": does.reset(),
  "closed without an answer": does.close(),
  "no answer": does.hang(),
  "a body cut short": does.truncate({ body: does.envelope({ status: "COMPLETED" }) }, 9),
  "a body that drips": does.drip({ body: does.envelope({ status: "COMPLETED" }) }, 1_000, "body"),
  "no HTTP": does.raw("220 smtp.example ESMTP ready\r\n"),
  "200 HTML": does.html(200),
  "200 that is empty": does.answer({}),
  "JSON nested 50,000 deep": does.nested(),
  "another request_id": does.ok({ request_id: "another", status: "COMPLETED" }),
  "302 to a maintenance page": does.redirect(302, "http://127.0.0.2:9/sorry"),
  "404 HTML": does.html(404),
  "405": does.html(405),
  "408": does.html(408),
  "413": does.html(413),
  "429": does.refuse(429, "RATE_LIMIT_EXCEEDED"),
  "429 Retry-After: 3": does.refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 3 }),
  "429 Retry-After: 40": does.refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 40 }),
  "500 in an envelope": does.refuse(500, "OOPS"),
  "502": does.html(502),
  "503 Retry-After: 20": does.html(503, { "retry-after": 20 }),
};
/** While the service asks for a wait, patience does not run out. */
const asksToWait = (fault: string) => /Retry-After/.test(fault);

/** A watch whose service answers once, fails from then on for so many minutes, and then says COMPLETED. */
async function outage(fault: Behaviour | "refused" | "all in turn", minutes: number, flags: string[] = []) {
  const clock = new VirtualClock();
  const end = clock.monotonic() + minutes * MINUTE;
  const all = Object.values(BAD);
  const polls: number[] = [];
  const { server, home, env } = await worldOf((_operation, nth) => {
    polls.push(clock.monotonic());
    if (clock.monotonic() >= end) return does.ok({ request_id: ID, status: "COMPLETED" });
    if (nth === 1) return does.ok({ request_id: ID, status: "PROCESSING" });
    if (fault === "all in turn") return all[nth % all.length] ?? does.reset();
    return fault === "refused" ? does.reset() : fault;
  });
  plant(home, { requestId: ID, origin: server.url, createdAt: clock.now() - 5 * MINUTE });
  const argv = ["watch", ID, "--request-timeout", "120ms", ...flags];
  const running = inProcess(argv, { env, clock });
  if (fault === "refused") {
    while (polls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close();
    await clock.sleep(end - clock.monotonic());
    await server.open();
  }
  const run = await running;
  await server.close();
  return {
    ...run,
    said: run.stderr.split("\n").filter((line) => !/ is [A-Z]+ \(|^still watching/.test(line)),
  };
}

const FAULTS = [...Object.keys(BAD), "refused", "all in turn"];
const play = (fault: string) =>
  fault === "refused" || fault === "all in turn" ? fault : (BAD[fault] ?? does.reset());

test.each(FAULTS)("cell: 9 minutes of %s, then COMPLETED · watch", async (fault) => {
  const run = await outage(play(fault), 9);
  expect(run).toMatchObject({ code: 0, stdout: `${ID}\tCOMPLETED\n` });
  expect(run.said).toEqual([
    expect.stringMatching(/^note: .*polling goes on/),
    expect.stringMatching(/^note: the service answers again/),
    expect.stringMatching(new RegExp(`^${ID} took `)),
    "",
  ]);
});

test.each(FAULTS.filter((fault) => !asksToWait(fault)))("cell: 11 minutes of %s · watch", async (fault) => {
  const run = await outage(play(fault), fault === "all in turn" ? 25 : 11, ["--json"]);
  expect(run).toMatchObject({ code: 9 });
  const errors = jsonErrors(run.stderr);
  expect(errors).toMatchObject([{ exit_code: 9, request_id: ID }]);
  expect(errors[0]?.hint).toContain(`research watch ${ID}`);
  const last = JSON.parse(run.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ status: "PROCESSING", final: false, error: { exit_code: 9 } });
  expect(last.elapsed_ms).toBeGreaterThanOrEqual(10 * MINUTE);
});

test.each(FAULTS.filter(asksToWait))("cell: 11 minutes of %s, then COMPLETED · watch", async (fault) => {
  expect(await outage(play(fault), 11)).toMatchObject({ code: 0 });
});

test.each(["reset after the whole body", "502", "429", "200 HTML"])("--patience, and %s", async (fault) => {
  expect(await outage(play(fault), 11, ["--patience", "12m"])).toMatchObject({ code: 0 });
  expect(await outage(play(fault), 9, ["--patience", "8m"])).toMatchObject({ code: 9 });
});

test("within a trouble only a wait of over five minutes is announced, and the next trouble is one of its own", async () => {
  const clock = new VirtualClock();
  const waits = [10, 60, 600, 10, 0, 10];
  const { env } = await worldOf((_operation, nth) => {
    const wait = waits[nth - 1];
    if (wait) return does.refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": wait });
    return does.ok({ request_id: ID, status: wait === 0 ? "PROCESSING" : "COMPLETED" });
  });
  const run = await inProcess(["watch", ID, "--json"], { env, clock });
  const codes = run.stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).notice.code);
  expect(codes).toEqual(["TROUBLE", "WAITING", "RECOVERED", "TROUBLE", "RECOVERED"]);
});
