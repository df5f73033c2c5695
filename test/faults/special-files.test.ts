import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn, homeWith, listed, plant } from "../support/home.js";
import { research } from "../support/in-process.js";
import { bash, start } from "../support/run.js";
import { world } from "../support/world.js";

const PLACES: Record<string, (path: string) => void> = {
  "a FIFO": (path) => void execFileSync("mkfifo", [path]),
  "/dev/zero": (path) => symlinkSync("/dev/zero", path),
  "/proc/kmsg": (path) => symlinkSync("/proc/kmsg", path),
};

describe.each(Object.entries(PLACES))("%s as", (what, make) => {
  test("the settings: every command that reads them ends with 12", async () => {
    const { home, env } = homeWith();
    mkdirSync(env.RESEARCH_CONFIG_DIR);
    make(join(env.RESEARCH_CONFIG_DIR, "config.json"));
    for (const args of [
      ["config", "list"],
      ["config", "set", "tier", "pro"],
    ])
      expect(await research(args, { home, env })).toMatchObject({ code: 12, stdout: "" });
  });

  test("the history: list ends with 12, and a create is recorded all the same", async () => {
    const here = await world();
    mkdirSync(here.env.RESEARCH_STATE_DIR);
    make(join(here.env.RESEARCH_STATE_DIR, "history.jsonl"));
    if (what !== "/proc/kmsg") expect(await here.research(["list"])).toMatchObject({ code: 12, stdout: "" });
    expect((await here.research(["create", "x"])).stdout).toMatch(/^\S+\n$/);
  });

  test("the record of an unknown outcome: list ends", async () => {
    const here = await world();
    const open = join(here.env.RESEARCH_STATE_DIR, "open");
    mkdirSync(open, { recursive: true });
    make(join(open, "local-x.json"));
    const run = await here.research(["list", "--json"]);
    expect(run).toMatchObject(what === "/proc/kmsg" ? { code: 12 } : { code: 0, stdout: "[]\n" });
  });
});

describe("/dev/zero and /proc as a key file", () => {
  test.each([
    ["/dev/zero", 2],
    ["/proc/self", 12],
    ["/proc/kmsg", 12],
  ])("%s ends with %d", async (path, code) => {
    const env = { RESEARCH_BASE_URL: "http://127.0.0.1:9", RESEARCH_API_KEY_FILE: path };
    expect((await research(["status", "abcd"], { env })).code).toBe(code);
  });
});

describe("what curl reads is read:", () => {
  test.each([
    "research create --prompt-file <(echo 'from a pipe')",
    "echo 'from a pipe' | research create --prompt-file /dev/stdin",
    "echo 'from a pipe' > file; research create --prompt-file /dev/stdin < file",
  ])("%s", async (script) => {
    const here = await world();
    expect(await here.bash(script)).toMatchObject({ code: 0 });
    const [created] = here.service.server.of("create");
    expect(JSON.parse(created?.body.toString("utf8") ?? "").prompt.trim()).toBe("from a pipe");
  });

  test.each([
    { text: "x => COMPLETED", argv: ["create", "--prompt-file", "fifo"] },
    { text: '{"type":"object"}', argv: ["create", "x", "--schema", "fifo"] },
    { text: "x => COMPLETED", argv: ["batch", "fifo", "--out", "out"] },
    { text: KEY, argv: ["create", "x"], env: { RESEARCH_API_KEY: "", RESEARCH_API_KEY_FILE: "fifo" } },
  ])("a FIFO that is written to late: $argv $env", async ({ text, argv, env = {} }) => {
    const here = await world();
    const writing = here.bash(`mkfifo fifo; sleep 0.3; echo '${text}' > fifo`);
    while (!existsSync(join(here.home, "fifo"))) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await here.research(argv, { env, cwd: here.home })).toMatchObject({ code: 0 });
    expect(await writing).toMatchObject({ code: 0 });
    expect(here.service.server.count("create")).toBe(1);
  });
});

test.each(["--prompt-file fifo", "x --schema fifo"])(
  "Ctrl-C ends create %s, into which nothing comes",
  async (words) => {
    const home = folderWith();
    execFileSync("mkfifo", [join(home, "fifo")]);
    const env = { RESEARCH_BASE_URL: "http://127.0.0.1:9", RESEARCH_API_KEY: "key-12345678" };
    const create = start(["create", ...words.split(" ")], { home, env });
    // Once it reads, a writer can open the FIFO without waiting.
    const writer = await bash("exec 3> fifo; echo open", { home });
    expect(writer.stdout).toBe("open\n");
    create.signal("SIGINT");
    expect(await create.done).toMatchObject({ stdout: "" });
  },
);

test("a history line of 300 MB costs a second, not minutes, and hides no other", async () => {
  const home = folderWith();
  const folders = foldersIn(home);
  const log = join(folders.RESEARCH_STATE_DIR, "history.jsonl");
  plant(home, { requestId: "before-1", origin: "https://a.example", createdAt: 1e12 });
  writeFileSync(log, `\n{"kind":"created","prompt":"`, { flag: "a" });
  const fd = openSync(log, "r+");
  truncateSync(log, 300e6);
  closeSync(fd);
  plant(home, { requestId: "after-1", origin: "https://a.example", createdAt: 1e12 + 1 });
  expect((await listed(home)).map(({ request_id }) => request_id)).toEqual(["after-1", "before-1"]);
});
