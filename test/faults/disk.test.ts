import { createReadStream, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { HappyService, KEY } from "../support/happy-service.js";
import { foldersIn, listed, plant } from "../support/home.js";
import { inProcess, research } from "../support/in-process.js";
import { bash, type RunResult } from "../support/run.js";
import { smallDisk } from "../support/small-disk.js";
import { jsonErrors, world, worldOf } from "../support/world.js";
import { goodAnswer, ID } from "./plays.js";

const CREATED = does.answer(goodAnswer("create"));

/** Runs a command line in `home` while there is no room; the key stands on its stdin. */
type Shortage = (home: string, argv: string[], env: Record<string, string>) => Promise<RunResult>;

/** What the shell itself writes goes to pipes, which have no size. */
const limited: Shortage = (home, argv, env) =>
  bash(`ulimit -f 0; research ${argv.join(" ")}`, { home, env, input: KEY });

/** A file system needs a mount, which not everyone may make. */
const full = smallDisk();
const onFullDisk: Shortage = async (home, argv, env) => {
  full?.fill();
  try {
    return await research(argv, { home, env, input: KEY });
  } finally {
    full?.free();
  }
};

describe.each([
  { what: "ulimit -f", home: folderWith(), shortage: limited, isMissing: false },
  {
    ...{ what: "a full disk (needs the right to mount)", home: full?.path ?? "" },
    ...{ shortage: onFullDisk, isMissing: full === undefined },
  },
])("$what", ({ home, shortage, isMissing }) => {
  const run = (argv: string[], env: Record<string, string>) => shortage(home, argv, env);
  const folders = foldersIn(home);

  test.skipIf(isMissing)("while settings are written: the old ones stand", async () => {
    const service = await HappyService.start();
    const env = { ...folders, RESEARCH_BASE_URL: service.url };
    expect(await research(["login", "--with-key"], { home, env, input: KEY })).toMatchObject({ code: 0 });
    const path = join(folders.RESEARCH_CONFIG_DIR, "config.json");
    const before = readFileSync(path, "utf8");
    for (const argv of [
      ["config", "set", "tier", "pro"],
      ["login", "--with-key"],
    ]) {
      const done = await run(argv, env);
      expect(done, argv.join(" ")).toMatchObject({ code: 12, stdout: "" });
      expect(done.stderr).toMatch(/full|size/);
      expect(readFileSync(path, "utf8")).toBe(before);
    }
    expect(readdirSync(folders.RESEARCH_CONFIG_DIR)).toEqual(["config.json"]);
    expect(await research(["config", "set", "tier", "pro"], { home, env: folders })).toMatchObject({
      code: 0,
    });
  });

  test.skipIf(isMissing)("at the intent: nothing is sent", async () => {
    const server = await faultServer(() => CREATED);
    const env = { ...folders, RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
    const before = await listed(home);
    for (const argv of [
      ["create", "x"],
      ["run", "x"],
    ]) {
      const done = await run(argv, env);
      expect(done, argv.join(" ")).toMatchObject({ code: 12, stdout: "" });
      expect(done.stderr).toMatch(/not sent/);
    }
    expect(server.connections).toBe(0);
    expect(await listed(home)).toEqual(before);
    expect((await research(["list"], { home, env: folders })).stderr).not.toMatch(/skipped/);
    // What needs no room still works.
    const status = await run(["status", ID], { ...env, RESEARCH_BASE_URL: (await working()).url });
    expect(status).toMatchObject({ code: 0, stdout: `${ID}\tPROCESSING\n` });
  });
});

const working = () =>
  faultServer((operation) => does.answer(goodAnswer(operation === "stop" ? "stop" : "status", "PROCESSING")));

test.concurrent("no file can grow after the POST: the id is in the room that was kept for it", async () => {
  const { server, home, env } = await worldOf(() => CREATED);
  // An intent fits into four blocks of a KiB; a log that is longer cannot grow.
  plant(home, { requestId: "planted-1", origin: server.url, createdAt: 1e12, prompt: "x".repeat(8_000) });
  const run = await bash("ulimit -f 4; research create x", { home, env });
  expect(run).toMatchObject({ code: 0, stdout: `${ID}\n`, stderr: "" });
  expect(await listed(home)).toMatchObject([
    { request_id: ID, status: "PENDING" },
    { request_id: "planted-1" },
  ]);
});

const disk = smallDisk();
test
  .skipIf(!disk)
  .concurrent(
    "the disk fills during the POST: the id is in the room that was kept for it (needs the right to mount)",
    async () => {
      const server = await faultServer(() => ({
        act: (socket) => {
          disk?.fill();
          socket.write(does.answerBytes(goodAnswer("create")));
        },
      }));
      const home = disk?.path ?? "";
      const env = { ...foldersIn(home), RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
      const run = await research(["create", "x"], { home: folderWith(), env });
      expect(run).toMatchObject({ code: 0, stdout: `${ID}\n`, stderr: "" });
      expect(await listed(home)).toMatchObject([{ request_id: ID, status: "PENDING" }]);
      disk?.free();
      const next = await faultServer(() => does.ok({ request_id: "next-1", status: "PENDING" }));
      await research(["create", "y"], {
        home: folderWith(),
        env: { ...env, RESEARCH_BASE_URL: next.url },
      });
      expect((await listed(home)).map(({ request_id }) => request_id).sort()).toEqual([ID, "next-1"]);
    },
  );

test.concurrent.each([
  { argv: ["create", "x"], result: `${ID}\n` },
  { argv: ["create", "x", "--json"], result: `${JSON.stringify({ request_id: ID, status: "PENDING" })}\n` },
])(
  "nothing can be kept after the POST: the id is said wherever it can be ($argv)",
  async ({ argv, result }) => {
    const home = folderWith();
    const folders = foldersIn(home);
    const server = await faultServer(() => ({
      act: (socket) => {
        rmSync(folders.RESEARCH_STATE_DIR, { recursive: true });
        writeFileSync(folders.RESEARCH_STATE_DIR, "");
        socket.write(does.answerBytes({ body: does.envelope({ request_id: ID, status: "PENDING" }) }));
      },
    }));
    const env = { ...folders, RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY: KEY };
    const run = await research(argv, { home, env });
    expect(run).toMatchObject({ code: 12, stdout: result });
    expect(run.stderr).toMatch(new RegExp(`NOT SAVED.*${ID}|${ID}.*NOT SAVED`));
    expect(server.count("create")).toBe(1);
  },
);

test.concurrent.each([["create"], ["create", "--json", "-w"]])(
  "%j > /dev/full: 12, and the id is in list",
  async (...words) => {
    const { service, home, env } = await world();
    const run = await bash(`research ${words.join(" ")} 'x => COMPLETED' > /dev/full`, { home, env });
    expect(run).toMatchObject({ code: 12 });
    const [entry] = await listed(home);
    expect([...service.conversations.keys()]).toEqual([entry?.request_id]);
    expect(run.stderr).toContain(entry?.request_id ?? "no id");
  },
);

// A table, lines as they come, and what is said before there is a command; a result is below.
test.concurrent.each(["list", "watch ID", "--help"])("%s > /dev/full is an error", async (words) => {
  const { service, home, env } = await world();
  const id = service.add("x => COMPLETED");
  plant(home, { requestId: id, origin: service.url, createdAt: Date.now() });
  const full = `research ${words.replace("ID", id)} > /dev/full`;
  expect(await bash(full, { home, env })).toMatchObject({ code: 12 });
  const run = await bash(full, { home, env: { ...env, RESEARCH_OUTPUT: "json" } });
  expect([run.code, jsonErrors(run.stderr)]).toMatchObject([12, [{ code: "LOCAL_IO", exit_code: 12 }]]);
});

test.concurrent("what cannot be said on stderr, or asked of stdin, is no error", async () => {
  const { home, env } = await world();
  for (const command of ["research run 'x => COMPLETED' 2>&- <&-", "research run x 2> /dev/full"])
    expect(await bash(command, { home, env }), command).toMatchObject({ code: 0 });
});

test.concurrent("a result that could not be written names its request, and run the command that fetches it", async () => {
  const { service, home, env } = await world();
  const file = ["-o", "/dev/full", "--force"];
  const run = await research(["run", "x => COMPLETED", ...file, "--json"], { home, env });
  const [id] = service.conversations.keys();
  const hint = `The request exists; go on with: research output -w ${id} -o /dev/full --force`;
  expect(jsonErrors(run.stderr)).toMatchObject([{ code: "LOCAL_IO", exit_code: 12, request_id: id, hint }]);
  const again = await research(["output", id ?? "", ...file, "--json"], { home, env });
  expect(jsonErrors(again.stderr)).toMatchObject([{ code: "LOCAL_IO", exit_code: 12, request_id: id }]);
  const plain = await bash("research run 'x => COMPLETED' > /dev/full", { home, env });
  expect([plain.code, plain.stderr]).toEqual([
    12,
    expect.stringContaining("go on with: research output -w "),
  ]);
});

test.concurrent("a result on a regular file of a full disk is an error", async () => {
  const { service, home, env } = await world({ output: () => "x".repeat(100_000) });
  const id = service.add("x => COMPLETED");
  const run = await bash(`ulimit -f 8; research output ${id} > out.txt`, { home, env });
  expect(run).toMatchObject({ code: 12 });
  const target = await bash(`ulimit -f 8; research output ${id} -o target.txt`, { home, env });
  expect(target).toMatchObject({ code: 12 });
  expect(readdirSync(home)).not.toContain("target.txt");
  expect(readdirSync(home).filter((name) => name.includes("target"))).toEqual([]);
});

test.concurrent.each(["create x", "create x -w", "run 'x => PENDING COMPLETED'"])(
  "%s with stdout closed, or a pipe that is: the record is there all the same",
  async (words) => {
    const { service, home, env } = await world();
    const run = await bash(`research ${words} --interval 20ms | true; echo "\${PIPESTATUS[0]}"`, {
      home,
      env,
    });
    expect(run.stdout).toBe("0\n");
    await bash(`research ${words} --interval 20ms >&-`, { home, env });
    const ids = (await listed(home)).map(({ request_id }) => request_id);
    expect(ids.sort()).toEqual([...service.conversations.keys()].sort());
    expect(ids).toHaveLength(2);
  },
);

test.concurrent.each(["create -w", "run"])(
  "%s follows what it created, whether or not the history can be read",
  async (verb) => {
    const { home, env } = await world();
    mkdirSync(join(home, "state/history.jsonl"), { recursive: true });
    const argv = [...verb.split(" "), "x => PENDING COMPLETED", "--interval", "20ms"];
    const ran = await research(argv, { home, env });
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
  },
);

test.concurrent("an output that exists, or is no file, is refused before anything is spent", async () => {
  const { service, home, env } = await world();
  mkdirSync(join(home, "folder"));
  await bash("echo old > file; ln -s file link; ln -s nowhere dangling; mkfifo fifo", { home });
  for (const name of ["file", "link", "dangling", "fifo", "folder", "newdir/", "missing/file"]) {
    for (const words of [
      ["run", "x => COMPLETED"],
      ["output", service.add("x => COMPLETED")],
    ]) {
      const run = await research([...words, "-o", join(home, name)], { home, env });
      expect(run, `${words} ${name}`).toMatchObject({ code: 12, stdout: "" });
    }
  }
  expect(service.server.count()).toBe(0);
  expect(readFileSync(join(home, "file"), "utf8")).toBe("old\n");
  const forced = await research(["run", "x => COMPLETED", "-o", join(home, "file"), "--force"], {
    home,
    env,
  });
  expect(forced).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(join(home, "file"), "utf8")).toContain("An answer");
});

test.concurrent("a prompt or a schema from /dev/zero: too large, 2", async () => {
  const { server, home, env } = await worldOf(() => CREATED);
  const prompt = await inProcess(["create"], { env, input: createReadStream("/dev/zero") });
  expect(prompt).toMatchObject({ code: 2, stdout: "" });
  for (const argv of [
    ["create", "--prompt-file", "/dev/zero"],
    ["create", "x", "--schema", "/dev/zero"],
  ])
    expect(await research(argv, { home, env }), argv[1]).toMatchObject({ code: 2, stdout: "" });
  expect(server.connections).toBe(0);
});
