import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notification, progress, showsProgress } from "../../src/cli/terminal/reporter.js";
import { screen } from "../support/screen.js";
import { world } from "../support/world.js";

const SHOWN = "\u001b]9;4;";
const OVER = `${SHOWN}0;0\u001b\\`;

describe("progress of the terminal itself", () => {
  test("is shown while a watch waits, and cleared at its end; --notify says once that it is over", async () => {
    const { home, env, service } = await world();
    const id = service.add("a secret prompt => PENDING COMPLETED");
    const program = screen(["watch", "--notify", id], { home, env: { ...env, TERM_PROGRAM: "WezTerm" } });
    expect((await program.done).code).toBe(0);
    expect(program.raw).toContain(`${SHOWN}3;0`);
    expect(program.raw.lastIndexOf(SHOWN)).toBe(program.raw.lastIndexOf(OVER));
    expect(program.raw.split(`\u001b]9;research: ${id} is COMPLETED\u001b\\`)).toHaveLength(2);
  });

  test.each(["\u0003", "hang-up"])("is cleared when a signal comes: %j", async (signal) => {
    const { home, env, service } = await world();
    const id = service.add("x => PROCESSING");
    const program = screen(["watch", id], { home, env: { ...env, WT_SESSION: "1" } });
    await program.waitFor(/PROCESSING/);
    if (signal === "hang-up") program.hangUp();
    else program.type(signal);
    await program.done;
    expect(program.raw.lastIndexOf(SHOWN)).toBe(program.raw.lastIndexOf(OVER));
  });

  test("is not written where showsProgress is false", async () => {
    const { home, env, service } = await world();
    const id = service.add("x => PROCESSING COMPLETED");
    const inTmux = { TMUX: "/tmp/tmux-0/default,1,0", WT_SESSION: "1" };
    const program = screen(["watch", id], { home, env: { ...env, ...inTmux } });
    expect((await program.done).code).toBe(0);
    expect(program.raw).not.toContain(SHOWN);
  });

  test.each([
    [{ WT_SESSION: "1" }, true],
    [{ TERM_PROGRAM: "WezTerm" }, true],
    [{ TERM_PROGRAM: "ghostty" }, true],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.6.6" }, true],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.10.0" }, true],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "4.0" }, true],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.6.5" }, false],
    [{ TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.9" }, false],
    [{ TERM_PROGRAM: "iTerm.app" }, false],
    [{ TERM_PROGRAM: "Apple_Terminal" }, false],
    [{ TERM: "tmux-256color", TERM_PROGRAM: "WezTerm" }, false],
    [{ TERM: "screen-256color", WT_SESSION: "1" }, false],
    [{ TMUX: "/tmp/tmux-0/default,1,0", WT_SESSION: "1" }, false],
    [{ STY: "1.pts", WT_SESSION: "1" }, false],
    [{}, false],
  ])("%j takes it: %j", (env, takes) => {
    expect(showsProgress(env)).toBe(takes);
  });

  test("of several is a share", () => {
    expect([progress(0), progress(0.505), progress(undefined), progress("over")]).toEqual(
      ["1;0", "1;51", "3;0", "0;0"].map((state) => `${SHOWN}${state}\u001b\\`),
    );
  });
});

describe("--notify", () => {
  test("speaks as the terminal understands it", () => {
    expect(notification("x", { TERM_PROGRAM: "WezTerm" })).toBe("\u001b]9;research: x\u001b\\");
    expect(notification("x", { TERM: "foot" })).toBe("\u001b]777;notify;research;x\u001b\\");
  });

  test("rings the bell elsewhere, and in tmux", () => {
    expect(notification("x", { TERM: "xterm-256color" })).toBe("\u0007");
    expect(notification("x", { TERM_PROGRAM: "WezTerm", TMUX: "1" })).toBe("\u0007");
  });

  test("run and batch say it, and nothing of the prompt", async () => {
    const { home, env, service } = await world();
    const wez = { ...env, TERM_PROGRAM: "WezTerm" };
    const run = screen(["run", "--notify", "secret => COMPLETED"], { home, env: wez });
    await run.done;
    const [id] = service.conversations.keys();
    expect(run.raw).toContain(`\u001b]9;research: ${id} is COMPLETED\u001b`);
    writeFileSync(join(home, "rows.txt"), "one => COMPLETED\ntwo => FAILED\n");
    const batch = screen(["batch", "rows.txt", "--out", "out", "--notify"], { home, env: wez });
    await batch.done;
    expect(batch.raw).toContain("\u001b]9;research: 2 of 2 rows have ended\u001b");
    expect(batch.raw).toContain(`${SHOWN}1;`);
  });

  test("writes nothing where stderr is no terminal, or with --json", async () => {
    const { research, service } = await world();
    const id = service.add("x => COMPLETED");
    for (const args of [[], ["--json"]])
      expect((await research(["watch", "--notify", id, ...args])).stderr).not.toMatch(/[\u0007\u001b]/);
  });
});
