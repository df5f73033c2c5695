import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import * as does from "../support/behaviours.js";
import { type FaultServer, faultServer, type Script } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn, listed } from "../support/home.js";
import { NODE, PROGRAM, type Running, type RunOptions, research, start, startBash } from "../support/run.js";
import { bashScreen, screen } from "../support/screen.js";
import { goodAnswer, ID } from "./plays.js";

vi.setConfig({ maxConcurrency: 6 });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when `reached` says so; rejects after ten seconds. */
async function until(reached: () => boolean): Promise<void> {
  for (let i = 0; !reached(); i++) {
    if (i > 1_000) throw new Error("it never came to that");
    await pause(10);
  }
}

interface Doing {
  what: string;
  argv: string[];
  script?: Script;
  options?: RunOptions;
  /** Whether the program is doing it. */
  reached: (server: FaultServer, running: Running) => boolean;
  /** What it says before it dies. */
  says?: RegExp;
}

/**
 * Milliseconds that a death may take: long for a busy machine, and short of what a signal that is not heard would take.
 * A create takes 5 s to learn its id, which a second signal ends.
 */
const DEATH_MS = 8_000;
const SECOND_SIGNAL_MS = 3_000;

const hanging: Script = () => does.hang();
const processing: Script = () => does.answer(goodAnswer("status", "PROCESSING"));
const long: Script = () => does.ok({ request_id: ID, output: "x".repeat(4 << 20) });
const ending: Script = (operation) =>
  operation === "create" || operation === "status" ? does.answer(goodAnswer(operation)) : does.hang();
const resumes = new RegExp(`research watch ${ID}`);
const settled = (server: FaultServer) => server.count("status") > 0;

const DOINGS: Doing[] = [
  { what: "idle, for a prompt", argv: ["create"], options: { openInput: true }, reached: handlesSignals },
  {
    what: "idle, for a schema",
    argv: ["create", "x", "--schema", "-"],
    options: { openInput: true },
    reached: handlesSignals,
  },
  {
    what: "idle, for a key",
    argv: ["login", "--with-key"],
    options: { openInput: true },
    reached: handlesSignals,
  },
  {
    ...{ what: "during the POST", argv: ["create", "x"], script: hanging, says: /may or may not exist/ },
    ...{ reached: (server) => server.count("create") > 0 },
  },
  {
    ...{ what: "during the POST of run", argv: ["run", "x"], script: hanging, says: /may or may not exist/ },
    ...{ reached: (server) => server.count("create") > 0 },
  },
  {
    ...{ what: "fetching, at the end of run", argv: ["run", "x"], script: ending },
    ...{ reached: (server) => server.count("output") > 0, says: new RegExp(`research output -w ${ID}`) },
  },
  {
    what: "during the POST of stop",
    argv: ["stop", "-y", ID],
    script: hanging,
    reached: (server) => server.count("stop") > 0,
  },
  { what: "polling", argv: ["watch", ID], script: hanging, reached: settled, says: resumes },
  { what: "asking", argv: ["status", ID], script: hanging, reached: settled },
  {
    ...{ what: "sleeping between polls", argv: ["watch", ID, "--interval", "60s"], script: processing },
    ...{ reached: (_server, running) => running.stderr.includes("PROCESSING"), says: resumes },
  },
  {
    ...{ what: "sleeping before a retry", argv: ["status", ID] },
    ...{ script: () => does.html(503, { "retry-after": 20 }), reached: settled },
  },
  {
    ...{ what: "writing", argv: ["output", ID], script: long, options: { unread: "stdout" } },
    ...{ reached: (server) => server.count("output") > 0 },
  },
  {
    ...{ what: "writing lines", argv: ["watch", ID, "--json", "--interval", "1ms"], script: swinging },
    ...{ options: { unread: "stdout" }, reached: stuck },
  },
  {
    ...{ what: "writing to stderr", argv: ["watch", ID, "--verbose", "--interval", "1ms"], script: swinging },
    ...{ options: { unread: "stderr" }, reached: stuck },
  },
];

/** Whether the program has taken over its signals, which Linux shows as a mask; then it is soon at its prompt. */
function handlesSignals(_server: FaultServer, { pid }: Running): boolean {
  const mask = /^SigCgt:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
}

/** Whether no request has come for a while, after many: what wants to write them cannot. */
function stuck(server: FaultServer): boolean {
  const last = server.requests.at(-1);
  return server.count() > 20 && last !== undefined && performance.now() - last.at > 300;
}

/** A state that changes with every poll, and is long. */
function swinging(_operation: string, nth: number): does.Behaviour {
  return does.ok({ request_id: ID, status: `${"LONG".repeat(500)}${nth}` });
}

async function begin({ argv, script = processing, options, reached }: Doing, unread = options) {
  const server = await faultServer(script);
  const home = folderWith();
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
  const running = start(argv, { home, env, timeoutMs: 25_000, ...unread });
  await until(() => reached(server, running));
  await pause(100);
  return { server, home, running };
}

for (const doing of DOINGS) {
  test.concurrent.each(["SIGINT", "SIGTERM"] as const)(
    `${doing.what}: %s is what it dies of`,
    async (signal) => {
      const { running, home } = await begin(doing);
      const sent = performance.now();
      running.signal(signal);
      if (doing.options?.unread) await deathOf(running, sent, DEATH_MS);
      const run = await running.done;
      expect(run, run.stderr).toMatchObject({ code: null, signal });
      expect(performance.now() - sent).toBeLessThan(DEATH_MS);
      if (doing.says) expect(run.stderr).toMatch(doing.says);
      if (doing.what.startsWith("during the POST") && doing.argv[0] !== "stop")
        expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
    },
  );

  test.concurrent(`${doing.what}: a hang-up without a terminal is nothing`, async () => {
    const { running } = await begin(doing);
    running.signal("SIGHUP");
    await pause(300);
    expect(running.child.exitCode ?? running.child.signalCode).toBeNull();
    running.signal("SIGTERM");
    await pause(50);
    running.signal("SIGTERM");
    if (doing.options?.unread) running.read(doing.options.unread);
    expect((await running.done).signal).toBe("SIGTERM");
  });

  test.concurrent(`${doing.what}: a second signal within 200 ms ends it at once`, async () => {
    const { running, home } = await begin(doing);
    running.signal("SIGINT");
    await pause(100);
    const sent = performance.now();
    running.signal("SIGINT");
    if (doing.options?.unread) await deathOf(running, sent, SECOND_SIGNAL_MS);
    expect((await running.done).signal).toBe("SIGINT");
    expect(performance.now() - sent).toBeLessThan(SECOND_SIGNAL_MS);
    if (doing.what.startsWith("during the POST") && doing.argv[0] !== "stop")
      expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
  });
}

/** A pipe that nobody reads is closed only when it is read to its end, so the death is looked for by itself. */
async function deathOf(running: Running, sent: number, within: number): Promise<void> {
  const gone = () => running.child.exitCode !== null || running.child.signalCode !== null;
  while (!gone() && performance.now() - sent < within) await pause(10);
  running.read("stdout");
  running.read("stderr");
  expect(gone()).toBe(true);
}

for (const doing of DOINGS.filter(({ options }) => !options)) {
  test.concurrent(`${doing.what}: a hang-up of a terminal is what it dies of`, async () => {
    const server = await faultServer(doing.script ?? processing);
    const home = folderWith();
    const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
    const shown = screen(doing.argv, { home, env });
    await until(() => server.count() > 0);
    await pause(150);
    shown.hangUp();
    expect(await shown.done).toMatchObject({ signal: 1 });
  });
}

test("SIGINT during the POST: the answer comes within 5 s, the id is printed and kept, and then it dies", async () => {
  let answer = () => {};
  const script: Script = () => ({
    act: (socket) => {
      answer = () => socket.write(does.answerBytes(goodAnswer("create")));
    },
  });
  const doing = {
    what: "",
    argv: ["create", "x"],
    script,
    reached: (server: FaultServer) => server.count() > 0,
  };
  const { running, home, server } = await begin(doing);
  running.signal("SIGINT");
  await pause(1_500);
  answer();
  expect(await running.done).toMatchObject({ code: null, signal: "SIGINT", stdout: `${ID}\n` });
  expect(await listed(home)).toMatchObject([{ request_id: ID, status: "PENDING" }]);
  expect(server.count()).toBe(1);
});

test("SIGINT while a create waits for another try: nothing was sent, so nothing is left", async () => {
  const server = await faultServer(hanging);
  await server.close();
  const home = folderWith();
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
  const running = start(["create", "x", "--verbose"], { home, env });
  await running.waitFor(/trying again/, { on: "stderr" });
  running.signal("SIGINT");
  expect(await running.done).toMatchObject({ signal: "SIGINT", stdout: "" });
  expect(await listed(home)).toEqual([]);
});

test("many ids at once are no leak of listeners", async () => {
  const server = await faultServer(() => ({
    act: async (socket) => {
      await pause(100);
      socket.write(does.answerBytes({ body: does.envelope({ status: "PENDING" }) }));
    },
  }));
  const home = folderWith();
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
  const ids = Array.from({ length: 40 }, (_, i) => `many-${i}`);
  expect(await research(["status", ...ids], { home, env })).toMatchObject({ code: 0, stderr: "" });
});

test.each(["create x", `status ${ID}`])("a bash loop around `%s` stops", async (words) => {
  const server = await faultServer(hanging);
  const home = folderWith();
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
  const script = `for i in 1 2 3; do echo round $i; research ${words}; done; echo after`;
  const running = startBash(script, { home, env });
  await until(() => server.count() > 0);
  running.kill("SIGINT");
  expect(await running.done).toMatchObject({ code: null, signal: "SIGINT", stdout: "round 1\n" });
  expect(server.count()).toBe(1);
});

test("serve that nobody reads yet is stopped as calmly as any: 0", async () => {
  const env = { PROGRAM, NODE };
  const script = `
    { head -c 65536 /dev/zero; timeout --preserve-status 2 "$NODE" "$PROGRAM" serve --port 0; echo $? >&2; } | sleep 3`;
  const run = await startBash(script, { env }).done;
  expect(run.stderr).toMatch(/^API key.*\n0\n$/);
});

test("nohup goes on when the terminal hangs up", async () => {
  const server = await faultServer((_, nth) =>
    does.answer(goodAnswer("status", nth < 6 ? "PROCESSING" : "COMPLETED")),
  );
  const home = folderWith();
  const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
  const shown = bashScreen(
    `nohup "${NODE}" "${PROGRAM}" watch ${ID} --interval 300ms > out.txt 2> err.txt < /dev/null & disown; sleep 30`,
    { home, env },
  );
  await until(() => server.count() > 1);
  shown.hangUp();
  await until(() => existsSync(`${home}/out.txt`) && readFileSync(`${home}/out.txt`, "utf8") !== "");
  expect(readFileSync(`${home}/out.txt`, "utf8")).toBe(`${ID}\tCOMPLETED\n`);
});
