import { describe, expect, test } from "vitest";
import { getResultCapabilities } from "../../../src/cli/terminal/style.js";

const on = (env: Record<string, string>, columns = 90) =>
  getResultCapabilities({ isTTY: true, stream: { columns } as NodeJS.WriteStream }, env);

describe("what a result is laid out for", () => {
  test.each<[string, Record<string, string>, boolean, boolean]>([
    ["a terminal", { TERM: "xterm-256color" }, true, false],
    ["no colour", { TERM: "xterm-256color", NO_COLOR: "1" }, false, false],
    ["forced colour", { TERM: "dumb", FORCE_COLOR: "1" }, false, false],
    ["forbidden colour", { TERM: "xterm", FORCE_COLOR: "0" }, true, false],
    ["kitty", { TERM: "xterm-kitty" }, true, true],
    ["kitty in tmux", { TERM: "tmux-256color", TERM_PROGRAM: "WezTerm" }, true, false],
    ["iTerm2", { TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, true, true],
    ["GNOME Terminal", { TERM: "xterm-256color", VTE_VERSION: "7006" }, true, true],
    ["one that is too old", { TERM: "xterm-256color", VTE_VERSION: "4205" }, true, false],
    ["Windows Terminal", { WT_SESSION: "1" }, true, true],
    ["links without colour", { TERM: "xterm-kitty", NO_COLOR: "1" }, false, true],
    ["a dumb terminal", { TERM: "dumb", WT_SESSION: "1" }, false, false],
    ["CI", { TERM: "xterm-kitty", CI: "true" }, false, false],
  ])("%s", (_name, env, colour, hyperlinks) => {
    expect(on(env)).toEqual({ columns: 90, colour, hyperlinks });
  });

  test("80 columns if the terminal does not say", () => {
    expect(on({}, 0).columns).toBe(80);
    expect(getResultCapabilities({ isTTY: true, stream: undefined }, {}).columns).toBe(80);
  });
});
