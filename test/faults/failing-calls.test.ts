import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { reset } from "../support/behaviours.js";
import { listed } from "../support/home.js";
import { hasStrace, NEEDS_STRACE, researchWithFaults } from "../support/strace.js";
import { type World, world } from "../support/world.js";

const runWith = (here: World, faults: string[], args: string[], path?: string) =>
  researchWithFaults(faults, args, here, path).done;

let here: World;
beforeEach(async () => {
  here = await world();
});

describe.skipIf(!hasStrace)(`a system call fails (${NEEDS_STRACE}):`, () => {
  test("nothing can be removed, so neither the intent nor the lock: a create succeeds", async () => {
    const args = ["create", "x", "--tier", "free"];
    const run = await runWith(here, ["unlink,unlinkat,rmdir:error=EACCES"], args);
    expect(run.code).toBe(0);
    expect(run.stderr).not.toContain("error");
    expect(await listed(here.home)).toMatchObject([{ request_id: run.stdout.trim(), status: "PENDING" }]);
    expect((await here.research(args)).code).toBe(0);
  });

  test("no draft can be removed: settings and a result are written, and that succeeds", async () => {
    const id = here.service.add("x => COMPLETED");
    const keep = ["unlink,unlinkat:error=EACCES"];
    expect(await runWith(here, keep, ["config", "set", "tier", "pro"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(await runWith(here, keep, ["output", id, "-o", "result.md"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(here.home, "result.md"), "utf8")).toContain("An answer");
  });

  test("nothing can be removed, and nothing was created: that is no unknown outcome", async () => {
    const away = { ...here, env: { ...here.env, RESEARCH_BASE_URL: "http://127.0.0.1:9" } };
    const args = ["create", "x", "--request-timeout", "1s"];
    expect((await runWith(away, ["unlink,unlinkat:error=EACCES"], args)).code).toBe(9);
    expect(await listed(here.home)).toEqual([]);
  });

  test("the file system does not sync folders: create and config set succeed", async () => {
    const { RESEARCH_CONFIG_DIR, RESEARCH_STATE_DIR } = here.env;
    const unsupported = ["fsync:error=EINVAL"];
    const create = await runWith(here, unsupported, ["create", "x"], join(RESEARCH_STATE_DIR, "open"));
    expect(create).toMatchObject({ code: 0, stderr: "" });
    const set = await runWith(here, unsupported, ["config", "set", "tier", "pro"], RESEARCH_CONFIG_DIR);
    expect(set).toMatchObject({ code: 0, stderr: "" });
  });

  test("a folder cannot be synced: what is said is what is so", async () => {
    const { RESEARCH_CONFIG_DIR, RESEARCH_STATE_DIR } = here.env;
    const broken = ["fsync:error=EIO"];
    const create = await runWith(here, broken, ["create", "x"], join(RESEARCH_STATE_DIR, "open"));
    expect(create).toMatchObject({ code: 12, stdout: "", stderr: expect.stringContaining("was not sent") });
    expect(here.service.server.count("create")).toBe(0);
    expect(await listed(here.home)).toEqual([]);
    const set = await runWith(here, broken, ["config", "set", "tier", "pro"], RESEARCH_CONFIG_DIR);
    expect(set).toMatchObject({ code: 12, stderr: expect.stringContaining("the settings are changed") });
    expect(readFileSync(join(RESEARCH_CONFIG_DIR, "config.json"), "utf8")).toContain("pro");
  });

  test("the history may not be read: no command takes it for empty, and a request is asked for all the same", async () => {
    const id = (await here.research(["create", "x"])).stdout.trim();
    const log = join(here.env.RESEARCH_STATE_DIR, "history.jsonl");
    const closed = (...args: string[]) => runWith(here, ["openat:error=EACCES"], args, log);
    const once = ["create", "x", "--once"];
    for (const args of [
      ["list"],
      ["show", id],
      ["status", "@last"],
      ["quota"],
      once,
      ["create", "x", "--per-day", "5"],
    ]) {
      const run = await closed(...args);
      expect(run, args.join(" ")).toMatchObject({
        code: 12,
        stdout: "",
        stderr: expect.stringContaining(log),
      });
    }
    expect(here.service.server.count("create")).toBe(1);
    for (const verb of ["status", "stop"]) expect(await closed(verb, id)).toMatchObject({ code: 0 });
  });

  test("one unknown outcome may not be read: it is counted, and hides no other", async () => {
    const here = await world({ fault: (operation) => (operation === "create" ? reset() : undefined) });
    for (const prompt of ["x", "y"]) await here.research(["create", prompt]);
    const [name = ""] = readdirSync(join(here.env.RESEARCH_STATE_DIR, "open"));
    const run = await runWith(
      here,
      ["openat:error=EACCES"],
      ["list", "--json"],
      join(here.env.RESEARCH_STATE_DIR, "open", name),
    );
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject([{ status: "UNKNOWN" }]);
    expect(run.stderr).toContain("HISTORY_SKIPPED");
  });

  test("a batch's folder cannot be synced: nothing is sent, and the same command sends the row later", async () => {
    writeFileSync(join(here.home, "rows.jsonl"), '{"prompt":"x => COMPLETED"}\n');
    const state = join(here.home, "out/.research-batch");
    mkdirSync(state, { recursive: true });
    const args = ["batch", "rows.jsonl", "--out", "out"];
    expect(await runWith(here, ["fsync:error=EIO"], args, state)).toMatchObject({ code: 12, stdout: "" });
    expect(here.service.server.count("create")).toBe(0);
    const again = await here.research(args, { cwd: here.home });
    expect(again).toMatchObject({ code: 0 });
    expect(here.service.server.count("create")).toBe(1);
  });

  test("a batch's folder cannot be listed: nothing is sent", async () => {
    writeFileSync(join(here.home, "rows.jsonl"), '{"prompt":"x => COMPLETED"}\n');
    const out = join(here.home, "out");
    mkdirSync(out);
    const args = ["batch", "rows.jsonl", "--out", "out"];
    const run = await runWith(here, ["getdents64:error=EACCES"], args, out);
    expect(run).toMatchObject({
      code: 12,
      stderr: expect.stringMatching(/^error: the output folder out cannot be used: /m),
    });
    expect(here.service.server.count("create")).toBe(0);
  });
});
