import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import * as does from "../support/behaviours.js";
import type { FaultServer, Script } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { listed } from "../support/home.js";
import { InProcess, inProcess } from "../support/in-process.js";
import {
  NODE,
  PROGRAM,
  type Running,
  type RunOptions,
  type RunResult,
  start,
  startBash,
} from "../support/run.js";
import { bashScreen, screen } from "../support/screen.js";
import { worldOf } from "../support/world.js";
import { goodAnswer, ID } from "./plays.js";

vi.setConfig({ maxConcurrency: 6 });

/** Resolves when `reached` says so; rejects after 50 s at least. */
async function until(reached: () => boolean): Promise<void> {
  for (let i = 0; !reached(); i++) {
    if (i > 5_000) throw new Error("it never came to that");
    await sleep(10);
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

/** What waits for the service alone, and so can be told in this process. */
interface Asking extends Omit<Doing, "options" | "reached"> {
  reached: (server: FaultServer) => boolean;
}

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
    ...{ what: "sleeping between polls", argv: ["watch", ID, "--interval", "60s"], script: processing },
    ...{ reached: (_server, running) => running.stderr.includes("PROCESSING"), says: resumes },
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

const ASKING: Asking[] = [
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
    ...{ what: "sleeping before a retry", argv: ["status", ID] },
    ...{ script: () => does.html(503, { "retry-after": 20 }), reached: settled },
  },
];

/** Whether the program has taken over its signals, which Linux shows as a mask; then it is soon at its prompt. */
function handlesSignals(_server: FaultServer, { pid }: Running): boolean {
  const mask = /^SigCgt:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
}

/** Whether no more requests come after the first ones: what wants to write their answers cannot. */
function stuck(server: FaultServer): boolean {
  const last = server.requests.at(-1);
  return last !== undefined && performance.now() - last.at > 300;
}

/** A state that changes with every poll, and is longer than what a pipe holds. */
function swinging(_operation: string, nth: number): does.Behaviour {
  return does.ok({ request_id: ID, status: `${"LONG".repeat(50_000)}${nth}` });
}

async function begin({ argv, script = processing, options, reached }: Doing, unread = options) {
  const { server, home, env } = await worldOf(script);
  const running = start(argv, { home, env, ...unread });
  await until(() => reached(server, running));
  return { server, home, running };
}

const hasEnded = ({ child }: Running) => child.exitCode !== null || child.signalCode !== null;

/** A pipe that is not read yet is closed only when it is read to its end, so the end is looked for by itself. */
async function endOf(running: Running): Promise<RunResult> {
  await until(() => hasEnded(running));
  running.read("stdout");
  running.read("stderr");
  return running.done;
}

for (const doing of DOINGS) {
  test.concurrent(`${doing.what}: SIGINT is what it dies of`, async () => {
    const { running, home } = await begin(doing);
    running.signal("SIGINT");
    const run = await (doing.options?.unread ? endOf(running) : running.done);
    expect(run, run.stderr).toMatchObject({ code: null, signal: "SIGINT" });
    if (doing.says) expect(run.stderr).toMatch(doing.says);
    if (doing.what === "during the POST") expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
  });
}

for (const { what, argv, script, reached, says } of ASKING) {
  test(`${what}: SIGINT is what it dies of`, async () => {
    const { server, home, env } = await worldOf(script ?? hanging);
    const running = new InProcess(argv, { env });
    await until(() => reached(server));
    running.signal("SIGINT");
    const run = await running.done;
    expect(run, run.stderr).toMatchObject({ code: null, signal: "SIGINT" });
    if (says) expect(run.stderr).toMatch(says);
    if (what === "during the POST of run") expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
  });
}

/** One for each kind of waiting: for stdin, for an answer, for time, for the reader of stdout. */
const KINDS = ["idle, for a prompt", "during the POST", "sleeping between polls", "writing lines"];

for (const doing of DOINGS.filter(({ what }) => KINDS.includes(what))) {
  test.concurrent(`${doing.what}: SIGTERM is what it dies of, and a hang-up without a terminal is nothing`, async () => {
    const { running } = await begin(doing);
    running.signal("SIGHUP");
    running.signal("SIGTERM");
    const run = await (doing.options?.unread ? endOf(running) : running.done);
    expect(run, run.stderr).toMatchObject({ code: null, signal: "SIGTERM" });
  });

  test.concurrent(`${doing.what}: a second signal ends it at once`, async () => {
    const { running, home } = await begin(doing);
    await until(() => {
      running.signal("SIGINT");
      return hasEnded(running);
    });
    const run = await endOf(running);
    expect(run.signal).toBe("SIGINT");
    if (doing.what !== "during the POST") return;
    // It waits for the answer no longer, and says nothing more.
    expect(run.stderr).not.toMatch(/may or may not exist/);
    expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
  });

  if (doing.options) continue;
  test.concurrent(`${doing.what}: a hang-up of a terminal is what it dies of`, async () => {
    const { server, home, env } = await worldOf(doing.script ?? processing);
    const shown = screen(doing.argv, { home, env });
    await until(() => server.count() > 0);
    shown.hangUp();
    expect(await shown.done).toMatchObject({ signal: 1 });
  });
}

test.each<[string[], string]>([
  [["create", "x"], `${ID}\n`],
  [["create", "x", "--once"], `${ID}\n`],
  [["create", "x", "-w"], `${ID}\n${ID}\t-\n`],
])(
  "SIGINT during the POST of %j: the answer that comes after it is printed and kept, and then it dies",
  async (argv, printed) => {
    let answer = () => {};
    const { server, home, env } = await worldOf(() => ({
      act: (socket) => {
        answer = () => socket.write(does.answerBytes(goodAnswer("create")));
      },
    }));
    const running = new InProcess(argv, { env });
    await until(() => server.count() > 0);
    running.signal("SIGINT");
    answer();
    expect(await running.done).toMatchObject({
      ...{ code: null, signal: "SIGINT", stdout: printed },
      stderr: expect.stringContaining(`go on with: research watch ${ID}\n`),
    });
    expect(await listed(home)).toMatchObject([{ request_id: ID, status: "PENDING" }]);
    expect(server.count()).toBe(1);
  },
);

test("SIGINT while a create waits for another try: nothing was created, and nothing is left", async () => {
  const { server, home, env } = await worldOf(hanging);
  await server.close();
  const running = new InProcess(["create", "x", "--verbose"], { env: { ...env, HOME: home } });
  await running.waitFor(/trying again/, { on: "stderr" });
  running.signal("SIGINT");
  const end = {
    signal: "SIGINT",
    stdout: "",
    stderr: expect.stringContaining("hint: this command created nothing; "),
  };
  expect(await running.done).toMatchObject(end);
  expect(await listed(home)).toEqual([]);
});

test("many ids at once are no leak of listeners", async () => {
  const { home, env } = await worldOf(() => ({
    act: async (socket) => {
      await sleep(100);
      socket.write(does.answerBytes({ body: does.envelope({ status: "PENDING" }) }));
    },
  }));
  const ids = Array.from({ length: 40 }, (_, i) => `many-${i}`);
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const run = await inProcess(["status", ...ids], { env: { ...env, HOME: home } });
  process.off("warning", note);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(warnings).toEqual([]);
});

test.each(["create x", `status ${ID}`])("a bash loop around `%s` stops", async (words) => {
  const { server, home, env } = await worldOf(hanging);
  const script = `for i in 1 2 3; do echo round $i; research ${words}; done; echo after`;
  const running = startBash(script, { home, env });
  await until(() => server.count() > 0);
  running.kill("SIGINT");
  expect(await running.done).toMatchObject({ code: null, signal: "SIGINT", stdout: "round 1\n" });
  expect(server.count()).toBe(1);
});

test("serve that nobody reads yet is stopped as calmly as any: 0", async () => {
  const home = folderWith();
  const script = `
    mkfifo leave
    { head -c 65536 /dev/zero; "${NODE}" "${PROGRAM}" serve --port 0 --data data & echo pid $! >&2; wait $!; echo code $? >&2
    } | read -r _ < leave`;
  const running = startBash(script, { home });
  const [, pid] = await running.waitFor(/^pid (\d+)$/m, { on: "stderr" });
  const lock = join(home, "data/lock");
  await until(() => existsSync(lock));
  process.kill(Number(pid), "SIGTERM");
  // The process cannot end while its line waits for the reader, but what it held is free.
  await until(() => !existsSync(lock));
  writeFileSync(join(home, "leave"), "\n");
  expect((await running.done).stderr).toMatch(/\ncode 0\n$/);
});

test("nohup goes on when the terminal hangs up", async () => {
  const { server, home, env } = await worldOf((_, nth) =>
    does.answer(goodAnswer("status", nth < 6 ? "PROCESSING" : "COMPLETED")),
  );
  const shown = bashScreen(
    `nohup "${NODE}" "${PROGRAM}" watch ${ID} --interval 300ms > out.txt 2> err.txt < /dev/null & disown; sleep 30`,
    { home, env },
  );
  await until(() => server.count() > 1);
  shown.hangUp();
  await until(() => existsSync(`${home}/out.txt`) && readFileSync(`${home}/out.txt`, "utf8") !== "");
  expect(readFileSync(`${home}/out.txt`, "utf8")).toBe(`${ID}\tCOMPLETED\n`);
});
