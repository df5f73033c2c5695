import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answer, only } from "../support/behaviours.js";
import { account } from "../support/providers/account.js";
import { SHAPES } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors, jsonLines } from "../support/world.js";
import { NAMES, saying } from "./rows.js";

const HOUR = 3_600_000;
const BUSY = saying("Rate limit reached for requests", "rate_limit_exceeded");
const TOO_LARGE = answer({
  status: 429,
  body: saying(
    "Request too large for gpt-x in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.",
    "rate_limit_exceeded",
  ),
});

/** The headers of an answer that is given at `now`, by a clock of its own that is an hour ahead in the last one. */
const WAITS: [what: string, headers: (now: number) => Record<string, string | number>, seconds: number][] = [
  ["epoch seconds", (now) => ({ "retry-after": Math.round(now / 1_000) + 5 }), 5],
  ["epoch milliseconds", (now) => ({ "retry-after": now + 5_000 }), 5],
  ["three years", () => ({ "retry-after": 99_999_999 }), 900],
  ["83 minutes", () => ({ "retry-after": 5_000 }), 900],
  [
    "a date by a clock that is an hour ahead",
    (now) => ({
      date: new Date(now + HOUR).toUTCString(),
      "retry-after": new Date(now + HOUR + 3_000).toUTCString(),
    }),
    3,
  ],
  ["a date that is past", (now) => ({ "retry-after": new Date(now - HOUR).toUTCString() }), 0],
];

describe.each(NAMES)("at %s", (name) => {
  test.each(WAITS)("a poll that is told to wait: %s", async (_, headers, seconds) => {
    const clock = new VirtualClock();
    const polls: number[] = [];
    const { run } = await account(
      name,
      {
        fault: (operation, nth) => {
          if (operation !== "status") return undefined;
          polls.push(clock.now());
          return nth === 1 ? answer({ status: 429, body: BUSY, headers: headers(clock.now()) }) : undefined;
        },
      },
      {},
      clock,
    );
    const words = SHAPES[name].words;
    const seen = await run("run", `why => ${words[2]}`);
    expect(seen, seen.stderr).toMatchObject({ code: 0 });
    const [first = 0, second = 0] = polls;
    // Parallel's first poll comes after a second, as any poll that is not told to wait.
    expect(Math.floor((second - first) / 1_000)).toBeGreaterThanOrEqual(seconds);
    expect((second - first) / 1_000).toBeLessThanOrEqual(Math.max(seconds + 1, 5));
    if (seconds === 900) {
      const until = new Date(first + 900_000).toISOString().slice(0, 16);
      expect(seen.stderr).toMatch(new RegExp(`polling goes on in 15m 00s \\(until ${until}`));
    }
  });

  test.each(WAITS.slice(4))("a create that is told to wait: %s", async (_, headers, seconds) => {
    const clock = new VirtualClock();
    const fault = only("create", answer({ status: 429, body: BUSY, headers: headers(clock.now()) }));
    const { run } = await account(name, { fault }, {}, clock);
    const seen = await run("create", "why", "--json");
    const [error] = jsonErrors(seen.stderr);
    expect(error).toMatchObject({ exit_code: 7 });
    // Exa never says when to come back, and its limits are of seconds.
    expect(error?.retry_after).toBe(seconds || (name === "exa" ? 3 : undefined));
  });

  test("no command sits out a limit of more than a day: 7 with the time, and a batch leaves its rows", async () => {
    const fault = only("create", answer({ status: 429, body: BUSY, headers: { "retry-after": 90_000 } }));
    const { run, posts, home, clock } = await account(name, { fault }, { "rows.txt": "one\ntwo\n" });
    const before = clock.now();
    const seen = await run("create", "why", "--wait-for-quota", "--json");
    expect(jsonErrors(seen.stderr)).toMatchObject([{ exit_code: 7, retry_after: 90_000 }]);
    const batch = await run("batch", join(home, "rows.txt"), "--out", join(home, "out"), "--json");
    expect([seen.code, batch.code, posts()]).toEqual([7, 7, 2]);
    expect(clock.now() - before).toBeLessThan(60_000);
    expect(jsonLines(batch.stdout).at(-1)).toMatchObject({ summary: { waiting: 2 } });
  });

  test("of 50 rows of which 3 can never pass 47 are done, the 3 are named, and nothing waits for them", async () => {
    const prompts = Array.from({ length: 50 }, (_, nth) => (nth % 20 === 3 ? `BIG ${nth}` : `small ${nth}`));
    const refuses = (prompt: string) => (prompt.startsWith("BIG") ? TOO_LARGE : undefined);
    const files = { "rows.txt": prompts.join("\n") };
    const { run, posts, home, clock } = await account(name, { refuses }, files);
    const before = clock.now();
    const go = () => run("batch", join(home, "rows.txt"), "--out", join(home, "out"), "-y", "--json");
    const seen = await go();
    expect(seen.code, seen.stderr).toBe(2);
    expect(posts()).toBe(50);
    expect(jsonLines(seen.stdout).at(-1)).toMatchObject({ summary: { done: 47, refused: 3 } });
    const errors = jsonErrors(seen.stderr);
    expect(errors.map(({ message }) => /^line \d+/.exec(String(message))?.[0])).toEqual([
      "line 4",
      "line 24",
      "line 44",
    ]);
    for (const error of errors) {
      expect(error).toMatchObject({ exit_code: 2 });
      expect(error.hint ?? "").not.toContain("--wait-for-quota");
    }
    // What 47 runs take by themselves, at Exa's pace of four requests a second.
    expect(clock.now() - before).toBeLessThan(60_000);
    expect(seen.stderr).not.toContain("WAITING_FOR_QUOTA");
    await go();
    expect(posts()).toBe(50);
  });

  test("a row that is too large for its limit is 2, is not sent again, and no wait is named for it", async () => {
    const { run, posts } = await account(name, { refuses: () => TOO_LARGE });
    const seen = await run("create", "BIG", "--wait-for-quota", "--json");
    expect(seen.code).toBe(2);
    expect(jsonErrors(seen.stderr)[0]?.hint ?? "").not.toContain("--wait-for-quota");
    expect(posts()).toBe(1);
  });

  test("a limit of nothing is no money, whatever time stands beside it", async () => {
    const body = saying(
      "Quota exceeded for metric: requests, limit: 0. Please retry in 33s.",
      "rate_limit_exceeded",
    );
    const fault = only("create", answer({ status: 429, body, headers: { "retry-after": 33 } }));
    const { run, posts, home } = await account(name, { fault }, { "rows.txt": "one\ntwo\n" });
    const seen = await run("create", "why", "--wait-for-quota", "--json");
    expect(jsonErrors(seen.stderr)).toMatchObject([{ code: "NO_CREDIT", exit_code: 6 }]);
    expect((await run("batch", join(home, "rows.txt"), "--out", join(home, "out"))).code).toBe(6);
    expect(posts()).toBe(2);
  });
});

test("a burst at Gemini is no empty account: the batch waits and goes on", async () => {
  const error = {
    code: 429,
    message: "Resource has been exhausted (e.g. check quota).",
    status: "RESOURCE_EXHAUSTED",
  };
  const fault = only("create", answer({ status: 429, body: JSON.stringify({ error }) }), 2);
  const { run, posts, home } = await account("gemini", { fault }, { "rows.txt": "one\ntwo\nthree\n" });
  const seen = await run("batch", join(home, "rows.txt"), "--out", join(home, "out"));
  expect(seen, seen.stderr).toMatchObject({ code: 0 });
  expect(posts()).toBe(5);
  expect(readFileSync(join(home, "out/line-1.md"), "utf8")).toContain("An answer to: one");
  const alone = await account("gemini", { fault });
  expect(await alone.run("create", "why")).toMatchObject({ code: 7 });
});
