import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { acquireLock, LockHeldError } from "../../../../src/core/files/file-lock.js";
import { CONTAINER, hasContainers, NEEDS_CONTAINERS } from "../../../support/containers.js";
import { folderWith } from "../../../support/folder.js";
import { lockProgram, startHolder } from "../../../support/lock-holder.js";
import { Running } from "../../../support/run.js";
import { until } from "../../../support/service.js";

let program: string;
/** Of a process that was killed; the tests take copies of it. */
let dead: string;
beforeAll(async () => {
  program = await lockProgram();
  dead = await killedLock();
});

const fresh = () => join(folderWith(), "lock");

/** The one record in a lock, as it was written. */
function recordOf(path: string): { file: string; holder: Record<string, unknown> } {
  const name = readdirSync(path).find((entry) => !entry.endsWith(".sock")) ?? "";
  return { file: join(path, name), holder: JSON.parse(readFileSync(join(path, name), "utf8")) };
}

/** A lock whose holder was killed. */
async function killedLock(): Promise<string> {
  const path = fresh();
  const holder = startHolder(program, [path, "hold"]);
  await holder.waitFor(/holds/);
  holder.kill("SIGKILL");
  await holder.done;
  return path;
}

/** Such a lock with changes to its record. */
function deadLock(change: Record<string, unknown> = {}): string {
  const path = fresh();
  cpSync(dead, path, { recursive: true, filter: (name) => !name.endsWith(".sock") });
  const { file, holder } = recordOf(path);
  writeFileSync(file, JSON.stringify({ ...holder, ...change }));
  return path;
}

/** Whether another process has its record ready to take the lock. */
async function waits(path: string): Promise<boolean> {
  const drafts = readdirSync(join(path, "..")).filter((name) => name !== "lock");
  // A record that is empty is being written: a process killed then leaves nothing that names it.
  return drafts.some((name) => sizeOf(join(path, "..", name, `holder-${name.slice("lock.".length)}`)) > 0);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

let path: string;
beforeEach(() => {
  path = fresh();
});

test("many processes in turn are waited for as long as each of them ends in time", async () => {
  let release = await acquireLock(path);
  let time = 0;
  let turns = 0;
  const takesTurns = {
    monotonic: () => time,
    sleep: async () => {
      time += 900;
      release();
      if (++turns < 5) release = await acquireLock(path);
    },
  };
  (await acquireLock(path, 1_000, undefined, takesTurns))();
  expect(turns).toBe(5);
});

test("one process is waited for no longer than that", async () => {
  const release = await acquireLock(path);
  let time = 0;
  const sleep = async () => {
    time += 600;
  };
  await expect(acquireLock(path, 1_000, undefined, { monotonic: () => time, sleep })).rejects.toThrow(
    LockHeldError,
  );
  expect(time).toBe(1_200);
  release();
});

describe("one process", () => {
  test("has it until it is released, and nothing of it stays", async () => {
    const release = await acquireLock(path);
    await expect(acquireLock(path)).rejects.toThrow(new LockHeldError(path, `process ${process.pid}`));
    release();
    expect(readdirSync(join(path, ".."))).toEqual([]);
    (await acquireLock(path))();
  });

  test("waits for a lock that is released in time", async () => {
    const release = await acquireLock(path);
    const second = acquireLock(path, 20_000);
    setTimeout(release, 50);
    (await second)();
  });

  test("stops waiting when it is told to", async () => {
    const release = await acquireLock(path);
    const enough = new AbortController();
    const second = acquireLock(path, 3_600_000, enough.signal);
    setTimeout(() => enough.abort(new Error("enough")), 50);
    await expect(second).rejects.toThrow("enough");
    release();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("a lock that could not be removed on release is no lock of this process any more", async () => {
    const release = await acquireLock(path);
    renameSync(path, `${path}-away`);
    release();
    renameSync(`${path}-away`, path);
    (await acquireLock(path))();
  });

  test("releasing removes no lock but its own", async () => {
    const first = await acquireLock(path);
    renameSync(path, `${path}-away`);
    const second = await acquireLock(path);
    first();
    await expect(acquireLock(path)).rejects.toThrow(LockHeldError);
    second();
    expect(existsSync(path)).toBe(false);
  });

  test("the path may be longer than a socket's address", async () => {
    const folder = join(folderWith(), "x".repeat(120));
    mkdirSync(folder);
    const release = await acquireLock(join(folder, "lock"));
    expect(readdirSync(join(folder, "lock"))).toContainEqual(expect.stringMatching(/\.sock$/));
    release();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("another process", () => {
  test("holds it while it lives, suspended too", async () => {
    const holder = startHolder(program, [path, "hold"]);
    await holder.waitFor(/holds/);
    holder.signal("SIGSTOP");
    await expect(acquireLock(path)).rejects.toThrow(new LockHeldError(path, `process ${holder.pid}`));
    holder.signal("SIGCONT");
    holder.child.stdin.end();
    await holder.done;
    (await acquireLock(path))();
  });

  test("that was killed is passed over", async () => {
    const path = await killedLock();
    (await acquireLock(path))();
    expect(existsSync(path)).toBe(false);
  });

  test("that was killed while it waited leaves nothing, once the lock is taken again", async () => {
    const release = await acquireLock(path);
    const waiting = startHolder(program, [path, "1", "1"]);
    await until(async () => readdirSync(join(path, "..")).length > 1 || undefined);
    await until(async () => (await waits(path)) || undefined);
    waiting.kill("SIGKILL");
    await waiting.done;
    release();
    (await acquireLock(path))();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("that is a zombie is passed over", async () => {
    const script = `"$0" "$1" "$2" hold < /dev/zero & exec sleep 60`;
    const parent = new Running("bash", ["-c", script, process.execPath, program, path]);
    const [, pid = ""] = await parent.waitFor(/holds (\d+)/);
    process.kill(Number(pid), "SIGKILL");
    await until(async () => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")) || undefined);
    (await acquireLock(path))();
    parent.kill("SIGKILL");
  });

  test.each([
    ["whose number another process has by now", { pid: process.pid }],
    ["of before a reboot of this machine", { boot: "an earlier one" }],
  ])("%s is passed over", async (_, change) => {
    (await acquireLock(deadLock(change)))();
  });

  test.each([
    ["on another host", { host: "another", boot: "another" }],
    ["in another container, without a socket", { namespace: "pid:[1]" }],
  ])("%s holds it, and what to do is said", async (_, change) => {
    const path = deadLock(change);
    await expect(acquireLock(path)).rejects.toThrow(`If that process has ended, remove ${path}`);
  });

  test("a record that a power failure tore is passed over", async () => {
    const path = deadLock();
    writeFileSync(recordOf(path).file, "");
    (await acquireLock(path))();
  });
});

describe("what cannot be read as a lock is held, and stays as it is:", () => {
  test.each<[string, (path: string) => void]>([
    ["a dangling symbolic link", (path) => symlinkSync("nowhere", path)],
    ["a symbolic link to a folder", (path) => symlinkSync("..", path)],
    ["a file", (path) => writeFileSync(path, "")],
    ["a FIFO", (path) => void execFileSync("mkfifo", [path])],
    ["a folder of something else", (path) => mkdirSync(join(path, "notes"), { recursive: true })],
    [
      "a folder with a file of something else",
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, "notes.txt"), "mine");
      },
    ],
    [
      "a FIFO as a record",
      (path) => {
        mkdirSync(path);
        execFileSync("mkfifo", [join(path, "holder-x")]);
      },
    ],
  ])("%s", async (_, make) => {
    make(path);
    await expect(acquireLock(path)).rejects.toThrow(LockHeldError);
    // It is not waited for, so the signal that ends a wait is not looked at.
    await expect(acquireLock(path, 3_600_000, AbortSignal.abort())).rejects.toThrow(/cannot be read/);
    expect(readdirSync(join(path, ".."))).toEqual(["lock"]);
  });
});

test("of processes that take over from dead ones, one at a time has it", async () => {
  for (let round = 0; round < 4; round++) {
    const runs = Array.from({ length: 4 }, (_, run) =>
      startHolder(program, [path, "5", `${4 * round + run}`]),
    );
    const ends = await Promise.all(runs.map(({ done }) => done));
    expect(ends.map(({ stderr }) => stderr).join("")).toBe("");
  }
});

describe.skipIf(!hasContainers)(`another container (${NEEDS_CONTAINERS})`, () => {
  test.each([
    ["", "lock"],
    [" with a path that is longer than a socket's address", `${"x".repeat(120)}.lock`],
  ])("holds it while it lives, and not when it was killed%s", async (_, name) => {
    const path = join(folderWith(), name);
    const holder = startHolder(program, [path, "hold"], CONTAINER);
    await holder.waitFor(/holds/);
    await expect(acquireLock(path)).rejects.toThrow(/ in another container$/);
    const second = startHolder(program, [path, "hold"], CONTAINER);
    await second.waitFor(/HeldError.*in another container/);
    holder.kill("SIGKILL");
    await holder.done;
    const third = startHolder(program, [path, "hold"], CONTAINER);
    await third.waitFor(/holds/);
    third.kill("SIGKILL");
    await third.done;
    (await acquireLock(path))();
  });
});
