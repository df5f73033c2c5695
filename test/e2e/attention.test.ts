import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notification } from "../../src/cli/terminal/notification.js";
import { screen } from "../support/screen.js";
import { world } from "../support/world.js";

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
    // What some terminals take for progress, others show as a notification.
    expect(run.raw + batch.raw).not.toContain("\u001b]9;4");
  });

  test("writes nothing where stderr is no terminal, or with --json", async () => {
    const { research, service } = await world();
    const id = service.add("x => COMPLETED");
    for (const args of [[], ["--json"]])
      expect((await research(["watch", "--notify", id, ...args])).stderr).not.toMatch(/[\u0007\u001b]/);
  });
});
