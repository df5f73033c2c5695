import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acquireLock } from "../../../../src/core/files/file-lock.js";
import { CONTAINER, hasContainers, NEEDS_CONTAINERS } from "../../../support/containers.js";
import { folderWith } from "../../../support/folder.js";
import { foldersIn } from "../../../support/home.js";
import { lockProgram, startHolder } from "../../../support/lock-holder.js";
import { NODE, PROGRAM, Running } from "../../../support/run.js";
import { until } from "../../../support/service.js";
import { world } from "../../../support/world.js";

/** Starts `research` in a container of its own, with a home of its own. */
function startContained(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const [command = "", ...prefix] = CONTAINER;
  return new Running(command, [...prefix, NODE, PROGRAM, ...args], { env });
}

describe.skipIf(!hasContainers)(`two containers on one folder (${NEEDS_CONTAINERS})`, () => {
  test("batch: the second one is refused, a row is created once, and a killed one's folder is taken over", async () => {
    const here = await world();
    const file = join(here.home, "rows.txt");
    const out = join(here.home, "out");
    const rows = Array.from({ length: 20 }, (_, i) => `row ${i} => COMPLETED\n`);
    writeFileSync(file, `${rows.join("")}stuck => PROCESSING\n`);
    const batch = () => startContained(["batch", file, "--out", out, "--interval", "20ms"], here.env);
    const first = batch();
    await first.waitFor(/PROCESSING/, { on: "stderr" });
    const second = await batch().done;
    expect(second).toMatchObject({ code: 12, stdout: "" });
    expect(second.stderr).toMatch(/another batch, process \d+ in another container\n/);
    first.kill("SIGKILL");
    await first.done;
    for (const conversation of here.service.conversations.values()) conversation.timeline = ["COMPLETED"];
    expect((await batch().done).code).not.toBe(12);
    expect(here.service.server.count("create")).toBe(21);
  });

  test("serve: the second one is refused, and a killed one's folder is taken over", async () => {
    const data = join(folderWith(), "data");
    const serve = () => startContained(["serve", "--data", data, "--port", "0"]);
    const first = serve();
    await first.waitFor(/^http/);
    const second = await serve().done;
    expect(second).toMatchObject({ code: 12, stdout: "" });
    expect(second.stderr).toMatch(/is held by process \d+ in another container\.\n/);
    first.kill("SIGKILL");
    await first.done;
    const third = serve();
    await third.waitFor(/^http/);
    third.kill("SIGKILL");
    await third.done;
  });
});

describe.skipIf(!hasContainers)(`a process in another PID namespace (${NEEDS_CONTAINERS})`, () => {
  test.each([
    ["a /proc of its own", CONTAINER],
    ["the /proc of all", CONTAINER.filter((word) => word !== "--mount-proc")],
  ])("with %s holds a create up while it lives, and not when it was killed", async (_, prefix) => {
    const here = await world();
    const { RESEARCH_STATE_DIR } = foldersIn(here.home);
    mkdirSync(RESEARCH_STATE_DIR);
    const holder = startHolder(await lockProgram(), [join(RESEARCH_STATE_DIR, "hour.lock"), "hold"], prefix);
    await holder.waitFor(/holds/);
    const create = here.start(["create", "x", "--tier", "free"], { env: { RESEARCH_STATE_DIR } });
    // Its draft of the lock is there as long as it waits.
    await until(async () => readdirSync(RESEARCH_STATE_DIR).length > 1 || undefined);
    expect(here.service.server.count("create")).toBe(0);
    holder.kill("SIGKILL");
    expect((await create.done).code).toBe(0);
    expect(here.service.server.count("create")).toBe(1);
  });
});

describe("where a lock should be stands a dangling symbolic link:", () => {
  test("batch, config set and a paced create end with 12, and serve too", async () => {
    const here = await world();
    const { RESEARCH_CONFIG_DIR, RESEARCH_STATE_DIR } = foldersIn(here.home);
    const folder = (...parts: string[]) => {
      mkdirSync(join(here.home, ...parts), { recursive: true });
      return join(here.home, ...parts);
    };
    symlinkSync("nowhere", join(folder("config"), "config.json.lock"));
    symlinkSync("nowhere", join(folder("state"), "hour.lock"));
    symlinkSync("nowhere", join(folder("out", ".research-batch"), "lock"));
    symlinkSync("nowhere", join(folder("data"), "lock"));
    writeFileSync(join(here.home, "rows.txt"), "row\n");
    const env = { RESEARCH_CONFIG_DIR, RESEARCH_STATE_DIR };
    const commands = [
      ["batch", join(here.home, "rows.txt"), "--out", join(here.home, "out")],
      ["config", "set", "tier", "pro"],
      ["create", "x", "--tier", "free"],
      ["serve", "--data", join(here.home, "data"), "--port", "0"],
    ];
    const ends = await Promise.all(commands.map((words) => here.research(words, { env })));
    for (const [i, { code, stdout, stderr }] of ends.entries()) {
      expect([commands[i]?.[0], code, stdout]).toEqual([commands[i]?.[0], 12, ""]);
      expect(stderr).toMatch(/cannot be read.*remove it/);
    }
    expect(here.service.server.count("create")).toBe(0);
  });
});

test("Ctrl-C ends the wait for a lock", async () => {
  const here = await world();
  const { RESEARCH_STATE_DIR } = foldersIn(here.home);
  mkdirSync(RESEARCH_STATE_DIR);
  const release = await acquireLock(join(RESEARCH_STATE_DIR, "hour.lock"));
  const create = here.start(["create", "x", "--tier", "free"], { env: { RESEARCH_STATE_DIR } });
  // Its draft of the lock is there as long as it waits.
  await until(async () => readdirSync(RESEARCH_STATE_DIR).length > 1 || undefined);
  create.signal("SIGINT");
  expect((await create.done).signal).toBe("SIGINT");
  expect(readdirSync(RESEARCH_STATE_DIR)).toEqual(["hour.lock"]);
  release();
  expect(here.service.server.count("create")).toBe(0);
});
