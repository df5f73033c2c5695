import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import * as does from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, listed } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";

vi.setConfig({ maxConcurrency: 8, testTimeout: 60_000 });

const NAMES: ProviderName[] = ["openai", "perplexity", "exa", "parallel"];
const own = (status: number) =>
  does.answer({
    status,
    body: '{"type":"error","error":{"message":"no","type":"t","code":"c","ref_id":"r","detail":null}}',
  });
const { answer, html } = does;

/** What a create meets, and the exit code that follows at every provider. */
const FAULTS: [what: string, behaviour: does.Behaviour, exit: number][] = [
  ["reset while sending", does.reset("head"), 11],
  ["reset after the body", does.reset("body"), 11],
  ["closed after the body", does.close(), 11],
  ["no HTTP", does.raw("220 smtp ready\r\n"), 11],
  ["200 and nothing", answer({}), 11],
  ["200 HTML", html(200), 11],
  ["200 no JSON", answer({ body: "ok" }), 11],
  ["200 an array", answer({ body: "[]" }), 11],
  ["200 without an id", answer({ body: '{"status":"queued"}' }), 11],
  ["200 with an invalid id", answer({ body: '{"id":"../x","run_id":"../x","status":"queued"}' }), 11],
  ["huge", does.huge(), 11],
  ["nested", does.nested(), 11],
  ...[408, 409, 425, 499].flatMap((status): [string, does.Behaviour, number][] => [
    [`${status} bare`, html(status), 11],
    [`${status} in its own words`, own(status), 11],
  ]),
  ...[500, 502, 503, 504].flatMap((status): [string, does.Behaviour, number][] => [
    [`${status} bare`, html(status), 11],
    [`${status} in its own words`, own(status), 11],
  ]),
  ["421 bare", html(421), 11],
  ["421 in its own words", own(421), 6],
  ["303", does.redirect(303, "http://127.0.0.2:9/"), 11],
  ["302", does.redirect(302, "http://127.0.0.2:9/"), 9],
  ["400", own(400), 2],
  ["404", own(404), 2],
  ["422", own(422), 2],
  ["401", own(401), 4],
  ["403", own(403), 4],
  ["402", own(402), 6],
  ["402 bare", html(402), 6],
  ["429", own(429), 7],
  ["410 in its own words", own(410), 6],
  ["410 bare", html(410), 9],
  ["413", html(413), 2],
];

describe.each(NAMES)("a create at %s", (name) => {
  for (const [what, behaviour, exit] of FAULTS)
    for (const verb of ["create", "run", "batch"] as const)
      test.concurrent(`${what} · ${verb}: ${exit}`, async () => {
        const double = await ProviderDouble.start(name, {
          fault: (operation) => (operation === "create" ? behaviour : undefined),
        });
        const home = folderWith({ "rows.txt": "why" });
        const env = { HOME: home, ...foldersIn(home), ...double.env };
        const argv = {
          create: ["create", "why"],
          run: ["run", "why"],
          batch: ["batch", join(home, "rows.txt"), "--out", join(home, "out"), "--timeout", "30s"],
        }[verb];
        const seen = await inProcess([...argv, "--json", "--request-timeout", "10s"], {
          env,
          clock: new VirtualClock(),
        });
        // A batch waits for a rate limit, and gives up a row that would have to wait for too long.
        const code = verb === "batch" && exit === 7 ? 8 : exit;
        expect(seen.code, seen.stderr).toBe(code);
        expect(double.server.count("create")).toBe(1);
        expect((await listed(home)).map(({ status }) => status)).toEqual(exit === 11 ? ["UNKNOWN"] : []);
        expect(seen.stdout + seen.stderr).not.toContain(KEY);
        expect(filesWith(home, KEY)).toEqual([]);
        expect(double.problems).toEqual([]);
      });

  test("a torn answer with the id in it counts as created once it can be asked about", async () => {
    const double = await ProviderDouble.start(name);
    const id = double.add({ input: "why", query: "why" });
    const whole = JSON.stringify(double.answerAbout(id, "queued"));
    const cut = whole.indexOf(id) + id.length + 2;
    const torn = await ProviderDouble.start(name, {
      fault: (operation) => (operation === "create" ? does.truncate({ body: whole }, cut) : undefined),
    });
    torn.runs.set(id, double.runs.get(id) as never);
    const home = folderWith();
    const env = { HOME: home, ...foldersIn(home), ...torn.env };
    const seen = await inProcess(["create", "why"], { env, clock: new VirtualClock() });
    expect(seen, seen.stderr).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(torn.server.count("create")).toBe(1);
  });
});
