import { describe, expect, test } from "vitest";
import type { Sink } from "../../../src/cli/terminal/host.js";
import { createLiveLine } from "../../../src/cli/terminal/live-line.js";
import { canShowLiveLine, chooseStyle, PLAIN } from "../../../src/cli/terminal/style.js";

const sink = (isTTY: boolean): Sink => ({ isTTY, stream: undefined, write: async () => {} });
const TERMINAL = { TERM: "xterm" };

test.each<[boolean, Record<string, string>, boolean]>([
  [true, TERMINAL, true],
  [true, {}, true],
  [false, TERMINAL, false],
  [true, { TERM: "dumb" }, false],
  [true, { CI: "true" }, false],
  [true, { CI: "1" }, false],
  [true, { CI: "" }, true],
  [true, { CI: "0" }, true],
  [true, { CI: "false" }, true],
])("things move on a stream (terminal: %s) with %j: %s", (isTTY, env, expected) => {
  expect(canShowLiveLine(sink(isTTY), env)).toBe(expected);
});

describe("colour", () => {
  test.each<[boolean, Record<string, string>, boolean]>([
    [true, TERMINAL, true],
    [false, TERMINAL, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [true, { CI: "true" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { FORCE_COLOR: "false" }, false],
    [true, { FORCE_COLOR: "" }, true],
  ])("on a stream (terminal: %s) with %j: %s", async (isTTY, env, expected) => {
    const style = await chooseStyle(sink(isTTY), env);
    expect(style.good("x")).toBe(expected ? "\u001b[32mx\u001b[39m" : "x");
  });

  test("is green, red, cyan, bold and dim", async () => {
    const style = await chooseStyle(sink(true), TERMINAL);
    expect([style.good("x"), style.bad("x"), style.busy("x"), style.bold("x"), style.dim("x")]).toEqual(
      [
        [32, 39],
        [31, 39],
        [36, 39],
        [1, 22],
        [2, 22],
      ].map(([on, off]) => `\u001b[${on}mx\u001b[${off}m`),
    );
  });

  test("is nothing in a plain style", () => {
    expect(Object.values(PLAIN).map((paint) => paint("x"))).toEqual(["x", "x", "x", "x", "x"]);
  });
});

test("a line moves on a terminal only", async () => {
  expect(await createLiveLine(sink(false), TERMINAL)).toBeUndefined();
  expect(await createLiveLine(sink(true), TERMINAL)).toBeUndefined();
});
