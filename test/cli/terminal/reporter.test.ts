import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host, Sink } from "../../../src/cli/terminal/host.js";
import { Interrupted } from "../../../src/cli/terminal/interruption.js";
import { ClosedPipeError, Reporter } from "../../../src/cli/terminal/reporter.js";
import { PLAIN } from "../../../src/cli/terminal/style.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { VirtualClock } from "../../support/virtual-clock.js";

const systemError = (code: string) => Object.assign(new Error(`${code}: x`), { code });

let written: { stdout: string; stderr: string };
let warn: (warning: Error) => void;
let control: AbortController;
beforeEach(() => {
  written = { stdout: "", stderr: "" };
  control = new AbortController();
});
afterEach(() => control.abort());

interface Options {
  json?: boolean;
  env?: Host["env"];
  stdout?: Sink["write"];
  stderr?: Sink["write"];
}

function reporter({ json = false, env = {}, ...writes }: Options = {}): Reporter {
  const sink = (name: "stdout" | "stderr"): Sink => ({
    ...{ isTTY: false, stream: undefined },
    write:
      writes[name] ??
      (async (data) => {
        written[name] += Buffer.from(data).toString("utf8");
      }),
  });
  const host: Partial<Host> = {
    ...{ env, clock: new VirtualClock(), stdout: sink("stdout"), stderr: sink("stderr") },
    onWarning: (listener) => {
      warn = listener;
    },
  };
  return new Reporter(host as Host, json, control.signal);
}

const FOREIGN = "odd answer\nerror: \u001b[2Jall is lost\r\nhint: run this";
const failure = (parts = {}) => ({ code: "USAGE", message: "m", exit_code: 2, ...parts });

describe("a message from outside cannot pass for one of ours:", () => {
  test("each line after the first of an error is set off, and acts on no terminal", async () => {
    await reporter().writeError(failure({ message: FOREIGN }));
    expect(written.stderr).toBe(
      "error: odd answer\n  error: \\u{1b}[2Jall is lost\\u{d}\n  hint: run this\n",
    );
  });

  test("so is each of a hint", async () => {
    await reporter().writeError(failure({ hint: "a\nerror: b" }));
    expect(written.stderr).toBe("error: m\nhint: a\n  error: b\n");
  });

  test("so is each of a notice, and of a warning of the runtime", async () => {
    await reporter().writeNotice("X", "a\nnote: b\u001b");
    warn(new Error("c\nerror: d"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(written.stderr).toBe("note: a\n  note: b\\u{1b}\nnote: c\n  error: d\n");
  });

  test("a code of the service is one line", async () => {
    await reporter().writeError(failure({ code: "A\nerror: b" }));
    expect(written.stderr).toBe("error: m (A error: b)\n");
  });
});

test.each([
  ["USAGE", "error: m\n"],
  ["INTERRUPTED", "error: m\n"],
  ["VALIDATION_ERROR", "error: m (VALIDATION_ERROR)\n"],
])("the code %s is shown for a person if it is the service's: %s", async (code, text) => {
  await reporter().writeError(failure({ code }));
  expect(written.stderr).toBe(text);
});

test("for a program each error and each notice is a line of JSON, and nothing else is said", async () => {
  const report = reporter({ json: true });
  await report.writeError(failure({ message: FOREIGN, hint: "h" }));
  await report.writeNotice("X", "a\nb");
  await report.say("progress");
  expect(await report.startLive(() => "")).toBe(false);
  const lines = written.stderr.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { error: failure({ message: FOREIGN, hint: "h" }) },
    { notice: { code: "X", message: "a\nb" } },
  ]);
  expect(written.stderr).not.toContain("\u001b");
});

test("what is said goes to stderr, escaped; a result goes to stdout, exact", async () => {
  const report = reporter();
  await report.say("a\u001b\nb");
  await report.writeResult("a\u001b\nb");
  await report.writeResult(Uint8Array.of(0x63));
  await report.writeResultJson({ a: "\u001b" });
  expect(written).toEqual({
    ...{ stderr: "a\\u{1b}\nb\n", stdout: 'a\u001b\nbc{"a":"\\u001b"}\n' },
  });
});

test("colours are those of the stream", async () => {
  expect(await reporter().loadStyle()).toBe(PLAIN);
  const report = reporter({ env: { FORCE_COLOR: "1" } });
  expect((await report.loadStyle()).bad("x")).toBe("\u001b[31mx\u001b[39m");
  await report.writeError(failure({ hint: "h" }));
  expect(written.stderr).toBe("\u001b[31merror:\u001b[39m m\n\u001b[2mhint:\u001b[22m h\n");
});

describe("stdout that", () => {
  test("was closed is a closed pipe", async () => {
    const report = reporter({ stdout: () => Promise.reject(systemError("EPIPE")) });
    await expect(report.writeResult("x")).rejects.toThrow(ClosedPipeError);
  });

  test("cannot be written is an error of this machine", async () => {
    const report = reporter({ stdout: () => Promise.reject(systemError("ENOSPC")) });
    const written = report.writeResult("x");
    await expect(written).rejects.toThrow(LocalError);
    await expect(written).rejects.toThrow(/the result could not be written to stdout: ./);
  });

  test("nobody reads does not hold up a signal, before or after it", async () => {
    const report = reporter({ stdout: () => new Promise(() => {}) });
    const waiting = report.writeResult("x");
    const interrupted = new Interrupted("SIGINT");
    control.abort(interrupted);
    await expect(waiting).rejects.toBe(interrupted);
    await expect(report.writeResult("y")).rejects.toBe(interrupted);
  });

  test("takes what is written after a signal, though a write was under way when it came", async () => {
    let taken = () => {};
    const report = reporter({
      stdout: async (data) => {
        written.stdout += data;
        if (data === "x") await new Promise<void>((resolve) => (taken = resolve));
      },
    });
    const waiting = report.writeResult("x");
    const interrupted = new Interrupted("SIGINT");
    control.abort(interrupted);
    await expect(waiting).rejects.toBe(interrupted);
    taken();
    await report.writeResult("y");
    expect(written.stdout).toBe("xy");
  });

  test("is read takes what is written after a signal", async () => {
    const report = reporter();
    control.abort(new Interrupted("SIGINT"));
    await report.writeResult("x");
    expect(written.stdout).toBe("x");
  });
});

test("stderr that cannot be written, or that nobody reads after a signal, ends nothing", async () => {
  await reporter({ stderr: () => Promise.reject(systemError("EPIPE")) }).writeError(failure());
  const report = reporter({ stderr: () => new Promise(() => {}) });
  control.abort(new Interrupted("SIGINT"));
  await report.writeError(failure());
  await report.say("x");
});
