import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openResearch } from "../../src/index.js";
import { accounts, addDoubles } from "../support/accounts.js";
import { type Behaviour, ok, only, refuse } from "../support/behaviours.js";
import { filesWith, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { ProviderDouble } from "../support/providers/double.js";
import { bash } from "../support/run.js";
import { jsonErrors, jsonLines, world, worldOf } from "../support/world.js";

const SECRET = "the harbour opens at dawn";
const NOTES = `# Notes\n\n${SECRET}\n`;
const QUESTION = "When does it open?";
const WHOLE = `## notes.md\n${NOTES}---\n${QUESTION}`;

/** A machine with notes in its home. */
async function machine(...given: Parameters<typeof world>) {
  const rig = await world(...given);
  const notes = join(rig.home, "notes.md");
  writeFileSync(notes, NOTES);
  const prompts = () => [...rig.service.conversations.values()].map(({ prompt }) => prompt);
  const state = rig.env.RESEARCH_STATE_DIR;
  const texts = () => filesWith(state, SECRET);
  /** Takes everything that has ended out of the history, as if it were older. */
  const forgetAll = async (...ids: string[]) => {
    const path = join(state, "history.jsonl");
    const lines = readFileSync(path, "utf8").replace(/"((?:sent_|created_)?at)":"20/g, '"$1":"19');
    writeFileSync(path, lines);
    const named = ids.length > 0 ? ids : ["--older-than", "1h"];
    return rig.research(["history", "forget", ...named]);
  };
  return { ...rig, notes, prompts, texts, state, forgetAll };
}

test("the files go before the question, and the history shows the question alone", async () => {
  const m = await machine();
  const made = await m.research(["create", `${QUESTION} => COMPLETED`, "--context", m.notes, "--json"]);
  expect(made.code).toBe(0);
  expect(jsonLines(made.stderr)).toEqual([
    {
      notice: { code: "CONTEXT", message: "before each question: notes.md (35 characters), about 9 tokens" },
    },
  ]);
  expect(m.prompts()).toEqual([`${WHOLE} => COMPLETED`]);
  const sha256 = m.texts()[0]?.split("/").at(-1);
  const context = [{ name: "notes.md", chars: NOTES.length, sha256 }];
  expect(JSON.parse((await m.research(["list", "--json"])).stdout)).toMatchObject([
    { prompt: `${QUESTION} => COMPLETED`, context },
  ]);
  expect(JSON.parse((await m.research(["show", "@last", "--json"])).stdout)).toMatchObject({ context });
  expect((await m.research(["show", "@last"])).stdout).toContain("context      notes.md (35 characters)\n");
  await m.research(["watch", "@last"]);
  const page = await m.research(["output", "@last", "--html"]);
  expect(page.stdout).toContain(`${QUESTION} =&gt; COMPLETED</`);
  // The double's answer repeats what it was asked; the question of the page does not.
  expect(page.stdout.split("<footer>")[1]).not.toContain(SECRET);
});

test("it is kept once, for its owner alone, and goes with the last request that names it", async () => {
  const m = await machine();
  for (const question of ["one", "two"])
    await m.research(["create", `${question} => COMPLETED`, "--context", m.notes, "-w"]);
  expect(m.texts()).toHaveLength(1);
  for (const path of [...m.texts(), join(m.state, "contexts")]) expect(statSync(path).mode & 0o077).toBe(0);
  await m.research(["create", "three => PROCESSING", "--context", m.notes]);
  expect((await m.forgetAll()).stderr).toContain("1 request is kept");
  expect(m.texts()).toHaveLength(1);
  await m.research(["stop", "@last", "-y"]);
  await m.forgetAll();
  expect(readdirSync(join(m.state, "contexts"))).toEqual([]);
});

test("rerun sends the same context again, or another one; a text that is gone is 12, and nothing is sent", async () => {
  const m = await machine();
  const id = (await m.research(["create", QUESTION, "--context", m.notes])).stdout.trim();
  writeFileSync(m.notes, "changed");
  const again = await m.research(["rerun", id]);
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("before each question: notes.md (35"),
  });
  expect(m.prompts()).toEqual([WHOLE, WHOLE]);
  expect((await m.research(["rerun", id, "--context", m.notes])).code).toBe(0);
  expect(m.prompts()[2]).toBe(`## notes.md\nchanged\n---\n${QUESTION}`);
  for (const path of m.texts()) rmSync(path);
  const gone = await m.research(["rerun", id, "--json"]);
  expect(gone.code).toBe(12);
  expect(jsonErrors(gone.stderr)[0]?.message).toMatch(/^the text of notes.md is not kept here any more/);
  expect(m.prompts()).toHaveLength(3);
});

test("run sends it, and its page and its live line show the question alone", async () => {
  const m = await machine({ output: () => "At dawn." });
  const run = await m.research(["run", `${QUESTION} => COMPLETED`, "--context", m.notes, "--html"]);
  expect(run.code).toBe(0);
  expect(m.prompts()).toEqual([`${WHOLE} => COMPLETED`]);
  expect(run.stdout + run.stderr).not.toContain(SECRET);
});

test("--dry-run shows it as it would be sent, and sends and keeps nothing", async () => {
  const m = await machine();
  const dry = await m.research(["create", QUESTION, "--context", m.notes, "--dry-run"]);
  expect(dry.stderr).toContain("before each question: notes.md (35 characters)");
  expect(dry.stdout).toContain(JSON.stringify({ prompt: WHOLE }));
  const json = await m.research(["create", QUESTION, "--context", m.notes, "--dry-run", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ body: { prompt: WHOLE } });
  expect(existsSync(m.state)).toBe(false);
  expect(m.service.server.count()).toBe(0);
});

test("stdin is the context if it is nothing else", async () => {
  const m = await machine();
  expect((await m.research(["create", QUESTION, "--context", "-"], { input: NOTES })).code).toBe(0);
  expect(m.prompts()).toEqual([`## stdin\n${NOTES}---\n${QUESTION}`]);
});

const SCHEMA = '{"type":"object"}';
test.each<[string, number, string[], (string | Buffer)?]>([
  ["stdin twice", 2, ["create", "q", "--context", "-", "--context", "-"], NOTES],
  ["stdin twice to rerun", 2, ["rerun", "@last", "--context", "-", "--context", "-"], NOTES],
  ["stdin that is the prompt", 2, ["create", "-", "--context", "-"], NOTES],
  ["stdin that is the prompt file", 2, ["run", "--prompt-file", "-", "--context", "-"], NOTES],
  ["stdin that is the schema", 2, ["create", "q", "--schema", "-", "--context", "-"], SCHEMA],
  ["stdin that is the batch", 2, ["batch", "-", "--out", "out", "--context", "-"], "q\n"],
  ["stdin without a prompt", 2, ["create", "--context", "-"], NOTES],
  ["a missing file", 12, ["create", "q", "--context", "missing.md"]],
  ["a folder", 12, ["run", "q", "--context", "."]],
  ["a binary file", 12, ["create", "q", "--context", "binary"]],
  ["a binary stdin", 12, ["create", "q", "--context", "-"], Buffer.from([0xff, 0, 1])],
  ["a blank file", 12, ["create", "q", "--context", "blank.md"]],
  ["too much text", 2, ["create", "q", "--context", "large.txt", "--context", "notes.md"]],
  ["too much with the question", 2, ["create", "--prompt-file", "long.txt", "--context", "large.txt"]],
  ["a device without an end", 2, ["create", "q", "--context", "/dev/zero"]],
  ["a binary file in a batch", 12, ["batch", "rows.txt", "--out", "out", "--context", "binary"]],
  ["a binary file to rerun", 12, ["rerun", "@last", "--context", "binary"]],
])("%s is %i, and nothing is sent", async (_name, code, args, input) => {
  const m = await machine();
  const files = {
    ...{ binary: Buffer.from([0x89, 0x50, 0, 0xff]), "blank.md": "\n", "rows.txt": "q\n" },
    ...{ "large.txt": "x".repeat(900 << 10), "long.txt": "y".repeat(125 << 10) },
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(m.home, name), content);
  if (args[0] === "rerun") await m.research(["create", "an older one"]);
  const before = m.service.server.count();
  const run = await bash(`research ${args.map((arg) => `'${arg}'`).join(" ")} --json`, {
    ...{ home: m.home, env: m.env, cwd: m.home, input: input ?? "" },
  });
  expect(run, run.stderr).toMatchObject({ code, stdout: "" });
  expect(jsonErrors(run.stderr)).toHaveLength(1);
  expect(m.service.server.count()).toBe(before);
  expect(existsSync(join(m.state, "contexts"))).toBe(false);
});

test("900 KiB in ten files go through", async () => {
  const m = await machine();
  const flags = Array.from({ length: 10 }, (_, n) => {
    const path = join(m.home, `part${n}.txt`);
    writeFileSync(path, String(n).repeat(90 << 10));
    return ["--context", path];
  }).flat();
  expect((await m.research(["create", QUESTION, ...flags])).stderr).toContain("about 230,400 tokens");
  const [prompt = ""] = m.prompts();
  expect(prompt.match(/^(?:## part\d\.txt|---)$/gm)).toHaveLength(20);
  expect(prompt.endsWith(`9\n---\n${QUESTION}`)).toBe(true);
});

test("it is part of what makes a request the same", async () => {
  const m = await machine();
  const once = async (...flags: string[]) =>
    (await m.research(["create", QUESTION, "--once", ...flags])).stdout;
  const made = await once("--context", m.notes);
  expect(await once("--context", m.notes)).toBe(made);
  expect(await once()).not.toBe(made);
  const copy = join(m.home, "other.md");
  writeFileSync(copy, NOTES);
  expect(await once("--context", copy)).not.toBe(made);
  expect(await once("--context", m.notes, "--context", copy)).not.toBe(made);
  writeFileSync(m.notes, `${NOTES}more`);
  expect(await once("--context", m.notes)).not.toBe(made);
  expect(m.prompts()).toHaveLength(5);
});

test("a refused create leaves no text, an unknown one keeps it for rerun", async () => {
  let answer: Behaviour = refuse(400, "VALIDATION_ERROR");
  const m = await worldOf((operation) =>
    operation === "create" ? answer : refuse(404, "REQUEST_NOT_FOUND"),
  );
  const path = join(m.home, "notes.md");
  writeFileSync(path, NOTES);
  const create = () => m.research(["create", QUESTION, "--context", path, "--json"]);
  const refused = await create();
  expect(refused).toMatchObject({ code: 2, stderr: expect.not.stringContaining(SECRET) });
  expect(filesWith(m.env.RESEARCH_STATE_DIR, SECRET)).toEqual([]);
  answer = { act: (socket) => void socket.destroy() };
  const unknown = await create();
  expect(unknown).toMatchObject({ code: 11, stderr: expect.not.stringContaining(SECRET) });
  expect(filesWith(m.env.RESEARCH_STATE_DIR, SECRET)).toHaveLength(1);
  const localId = String(jsonErrors(unknown.stderr)[0]?.local_id);
  await m.research(["resolve", localId, "--not-created"]);
  answer = ok({ request_id: "r-1", status: "PENDING" });
  expect((await m.research(["rerun", localId])).stdout).toBe("r-1\n");
  expect(JSON.parse(String(m.server.requests.at(-1)?.body))).toEqual({ prompt: WHOLE });
});

test("a text is kept under the lock of those who forget, and without it nothing is sent", async () => {
  const m = await machine();
  mkdirSync(join(m.state, "hour.lock", "something"), { recursive: true });
  expect((await m.research(["create", QUESTION, "--context", m.notes])).code).toBe(12);
  expect((await m.research(["create", QUESTION])).code).toBe(0);
  expect(m.prompts()).toEqual([QUESTION]);
  expect(m.texts()).toEqual([]);
});

test("with the history off it is sent and not kept", async () => {
  const m = await machine();
  const env = { RESEARCH_NO_HISTORY: "1" };
  expect((await m.research(["create", QUESTION, "--context", m.notes], { env })).code).toBe(0);
  expect(m.prompts()).toEqual([WHOLE]);
  expect(existsSync(m.state)).toBe(false);
});

/** Whether a create has come as far as this. */
const STAGES: Record<string, (m: Awaited<ReturnType<typeof machine>>) => boolean> = {
  "its text is being kept": ({ state }) => existsSync(join(state, "contexts")),
  "its intent is there": ({ state }) =>
    existsSync(join(state, "open")) && readdirSync(join(state, "open")).length > 0,
  "it is sent": ({ service }) => service.server.count() > 0,
};

test.each(Object.entries(STAGES))(
  "killed when %s, a create leaves no text once all is forgotten",
  async (_name, isThere) => {
    const m = await machine({ createMs: 60_000 });
    const running = m.start(["create", "killed => COMPLETED", "--context", m.notes]);
    while (!isThere(m)) await new Promise((resolve) => setTimeout(resolve, 1));
    running.kill("SIGKILL");
    await running.done;
    const { stdout } = await m.research(["list", "--json"]);
    const unknown: string[] = JSON.parse(stdout).map(({ local_id }: { local_id: string }) => local_id);
    for (const id of unknown) await m.research(["resolve", id, "--not-created"]);
    const old = { requestId: "old-1", origin: m.service.url, createdAt: 0, status: "COMPLETED" };
    plant(m.home, old);
    expect((await m.forgetAll("old-1", ...unknown)).code).toBe(0);
    expect(filesWith(m.home, SECRET, (path) => path === m.notes)).toEqual([]);
  },
);

test("batch puts the same text before each of 200 questions, and keeps it once", async () => {
  const m = await machine({ output: () => "done" });
  const large = join(m.home, "large.txt");
  writeFileSync(large, `${SECRET}\n`.repeat(20_000));
  const rows = join(m.home, "rows.txt");
  writeFileSync(rows, Array.from({ length: 200 }, (_, n) => `question ${n} => COMPLETED\n`).join(""));
  const out = join(m.home, "out");
  const args = ["batch", rows, "--out", out, "--context", large];
  const dry = await m.research([...args, "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({
    to_send: 200,
    first: [{ prompt: "question 0 => COMPLETED" }, {}, {}],
  });
  const run = m.start([...args, "--interval", "100ms"]);
  expect(await run.done).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("large.txt (520,000 characters)"),
  });
  const prompts = m.prompts();
  expect(prompts).toHaveLength(200);
  const whole = `## large.txt\n${readFileSync(large, "utf8")}---\n`;
  expect(prompts.every((prompt, n) => prompt === `${whole}question ${n} => COMPLETED`)).toBe(true);
  expect(filesWith(m.state, SECRET)).toHaveLength(1);
  expect(filesWith(out, SECRET)).toEqual([]);
  // The same command sends nothing more; other notes are other requests.
  expect((await m.research(args)).code).toBe(0);
  expect(m.prompts()).toHaveLength(200);
  writeFileSync(large, "less");
  const changed = await m.research([...args, "--dry-run", "--json"]);
  expect(JSON.parse(changed.stdout)).toMatchObject({ to_send: 200 });
});

test("compare asks each account with it, and its folder is that of what is asked", async () => {
  const m = await accounts({ one: undefined, two: undefined });
  const notes = join(m.home, "notes.md");
  writeFileSync(notes, NOTES);
  const go = (...flags: string[]) =>
    bash(`research compare '${QUESTION}' -p one -p two ${flags.join(" ")} --json`, {
      home: m.home,
      env: m.env,
      cwd: m.home,
    });
  const first = await go("--context", notes);
  expect(first, first.stderr).toMatchObject({ code: 0 });
  const { dir, prompt } = JSON.parse(first.stdout);
  expect(prompt).toBe(QUESTION);
  for (const { server } of Object.values(m.services))
    expect(JSON.parse(String(server.requests[0]?.body)).prompt).toBe(WHOLE);
  expect(filesWith(join(m.home, dir), SECRET)).toEqual([]);
  await go("--context", notes);
  expect(m.posts()).toEqual([1, 1]);
  expect(JSON.parse((await go()).stdout).dir).not.toBe(dir);
  expect(m.posts()).toEqual([2, 2]);
  writeFileSync(notes, "changed");
  const other = await go("--context", notes, "-o", dir);
  expect(jsonErrors(other.stderr)).toMatchObject([
    { exit_code: 12, message: expect.stringContaining("another question") },
  ]);
});

test.each([
  ["compare", " < CONTEXT"],
  ["batch", " < INPUT"],
])("the command that goes on with a %s reads the context from stdin again", async (verb, end) => {
  const slow = only("status", ok({ request_id: "one-1", status: "PENDING" }));
  const m = await accounts({ one: slow, two: undefined });
  const rows = join(m.home, "rows.txt");
  writeFileSync(rows, `${QUESTION}\n`);
  const asked = verb === "batch" ? [rows, "--out"] : [QUESTION, "-p", "one", "-p", "two", "-o"];
  const args = [verb, ...asked, join(m.home, "dir"), "--context", "-", "--timeout", "1ms"];
  const seen = await inProcess(args, { env: m.env, input: NOTES });
  expect(seen).toMatchObject({ code: 8 });
  const [, command = ""] = /go on with: (research .*)$/m.exec(seen.stderr) ?? [];
  expect(command.endsWith(end)).toBe(true);
  const posts = m.posts();
  const again = command.replace(end, " < notes.md");
  writeFileSync(join(m.home, "notes.md"), NOTES);
  const next = await bash(again, { home: m.home, env: m.env, cwd: m.home });
  expect(next, next.stderr).toMatchObject({ code: 8 });
  expect(m.posts()).toEqual(posts);
});

test("each provider gets it in the one prompt, and its records show the question", async () => {
  const { env, run, home } = await accounts({});
  writeFileSync(join(home, "notes.md"), NOTES);
  for (const name of ["openai", "perplexity", "exa", "parallel", "gemini", "tavily"] as const) {
    const double = await ProviderDouble.start(name);
    await addDoubles(env, double);
    const made = await run("create", QUESTION, "-p", name, "--context", join(home, "notes.md"));
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const body: Record<string, unknown> = JSON.parse(String(double.server.of("create")[0]?.body));
    expect(body.input ?? body.query).toBe(WHOLE);
  }
  const listed: { prompt: string }[] = JSON.parse((await run("list", "--json")).stdout);
  expect(listed.map(({ prompt }) => prompt)).toEqual(Array(6).fill(QUESTION));
});

test("the library reads files in the same way", async () => {
  const m = await machine();
  const research = openResearch({ env: m.env });
  try {
    const { localId } = await research.submit({ prompt: QUESTION, context: [m.notes] });
    expect(m.prompts()).toEqual([WHOLE]);
    expect(await research.list()).toMatchObject([{ localId, prompt: QUESTION }]);
    const broken = research.submit({ prompt: QUESTION, context: [join(m.home, "missing.md")] });
    await expect(broken).rejects.toMatchObject({ code: "LOCAL_IO" });
    await research.submit({ prompt: QUESTION, context: [] });
    expect(m.prompts()).toEqual([WHOLE, QUESTION]);
  } finally {
    await research.close();
  }
});
