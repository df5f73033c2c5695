import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createKeyFileReader, readKeyFile, readKeyWithTimeout } from "../../src/app/resolve-settings.js";
import { systemClock } from "../../src/core/clock.js";
import { LocalError } from "../../src/core/files/local-error.js";
import { refuse } from "../support/behaviours.js";
import { faultServer } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { inProcess, research } from "../support/in-process.js";
import { openedFifo } from "../support/processes.js";
import { start } from "../support/run.js";
import { until } from "../support/service.js";
import { VirtualClock } from "../support/virtual-clock.js";

const { signal } = new AbortController();

function fifo(): string {
  const path = join(folderWith(), "fifo");
  execFileSync("mkfifo", [path]);
  return path;
}

/** Opens a FIFO for writing as soon as it is read. */
function writer(path: string): Promise<number> {
  return until(async () => openedFifo(path));
}

test("a key file is its text without the white space around it", async () => {
  const path = join(folderWith({ key: " secret\n" }), "key");
  expect(readKeyFile(path)).toBe("secret");
  expect(await readKeyWithTimeout(path, new VirtualClock(), signal)).toBe("secret");
  expect(await createKeyFileReader({ RESEARCH_API_KEY_FILE: path }, new VirtualClock(), signal)).toBe(
    readKeyFile,
  );
});

test("a key file that is not there is named as one, also where it may be a FIFO", async () => {
  const path = join(folderWith(), "gone");
  await expect(readKeyWithTimeout(path, new VirtualClock(), signal)).rejects.toThrow(
    `the key file ${path} could not be read: `,
  );
});

test.each([
  ["a name that is too long", "a".repeat(300)],
  ["a file taken for a folder", "/etc/passwd/key"],
  ["a loop of links", "loop"],
])("%s is one sentence, exit 12", async (_what, name) => {
  const home = folderWith();
  symlinkSync("loop", join(home, "loop"));
  const { code, stderr } = await research(["list"], { home, env: { RESEARCH_API_KEY_FILE: name } });
  expect([code, stderr]).toEqual([
    12,
    expect.stringMatching(/^error: the key file .* could not be read: .*\n$/),
  ]);
  expect(stderr).toContain(name);
});

describe("a FIFO", () => {
  test("is waited for, and read once for whoever asks", async () => {
    const path = fifo();
    const reading = createKeyFileReader({ RESEARCH_API_KEY_FILE: path }, systemClock, signal);
    const fd = await writer(path);
    appendFileSync(fd, "sec");
    appendFileSync(fd, "ret\n");
    closeSync(fd);
    const read = await reading;
    expect([read(path), read(path)]).toEqual(["secret", "secret"]);
  });

  test("into which nothing comes is given up after ten seconds, when the key is asked for", async () => {
    const path = fifo();
    const clock = new VirtualClock();
    const begun = clock.monotonic();
    const read = await createKeyFileReader({ RESEARCH_API_KEY_FILE: path }, clock, signal);
    expect(clock.monotonic() - begun).toBe(10_000);
    expect(() => read(path)).toThrow(LocalError);
    expect(() => read(path)).toThrow(`${path} could not be read: nothing came within 10 s`);
  });

  test("is not read if the key stands in the environment", async () => {
    const env = { RESEARCH_API_KEY: "other", RESEARCH_API_KEY_FILE: fifo() };
    expect(await createKeyFileReader(env, new VirtualClock(), signal)).toBe(readKeyFile);
  });

  test("hears Ctrl-C while it is waited for", async () => {
    const path = fifo();
    const env = { RESEARCH_BASE_URL: "http://127.0.0.1:9", RESEARCH_API_KEY_FILE: path };
    const running = start(["status", "abcd"], { env });
    const fd = await writer(path);
    running.signal("SIGINT");
    expect(await running.done).toMatchObject({
      signal: "SIGINT",
      stdout: "",
      stderr: expect.not.stringContaining("nothing came"),
    });
    closeSync(fd);
  });

  test("is given up with the reason of the signal", async () => {
    const control = new AbortController();
    const reading = createKeyFileReader({ RESEARCH_API_KEY_FILE: fifo() }, systemClock, control.signal);
    const reason = new Error("interrupted");
    control.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  test("is read once by mcp, which reads the settings for each call until they are there", async () => {
    const path = fifo();
    const server = await faultServer(() => refuse(404, "REQUEST_NOT_FOUND"));
    const env = { RESEARCH_BASE_URL: server.url, RESEARCH_API_KEY_FILE: path };
    const running = start(["mcp"], { env, openInput: true });
    const fd = await writer(path);
    appendFileSync(fd, "key-12345678\n");
    closeSync(fd);
    const capable = { capabilities: {}, clientInfo: { name: "t", version: "1" } };
    for (const [id, method, params] of [
      [1, "initialize", { protocolVersion: "2025-11-25", ...capable }],
      [2, "tools/call", { name: "research_status", arguments: { ids: ["abcd"] } }],
    ])
      running.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await running.waitFor(/"id":2/);
    running.child.stdin.end();
    await running.done;
    expect(server.requests[0]?.headers.authorization).toBe("Bearer key-12345678");
  });

  test("is left alone by what needs no key", async () => {
    const clock = new VirtualClock();
    const begun = clock.monotonic();
    const run = await inProcess(["completion", "bash"], { env: { RESEARCH_API_KEY_FILE: fifo() }, clock });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(clock.monotonic()).toBe(begun);
  });

  test("is read once by doctor, which asks for the key more than once", async () => {
    const path = fifo();
    const env = { RESEARCH_BASE_URL: "http://127.0.0.1:9", RESEARCH_API_KEY_FILE: path };
    const running = start(["doctor", "--offline", "--json"], { env });
    const fd = await writer(path);
    appendFileSync(fd, "key-12345678\n");
    closeSync(fd);
    const { stdout } = await running.done;
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({ id: "key", status: "ok", message: expect.stringContaining("…5678") }),
    );
  });
});
