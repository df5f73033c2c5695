import { describe, expect, it } from "vitest";
import { RollingWindow } from "../../../../src/server/conversations/local/hourly-windows.js";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;

function windowOf(...times: number[]): RollingWindow {
  const window = new RollingWindow();
  for (const at of times) window.add(at);
  return window;
}

describe("the times that count", () => {
  it.each([
    ["none", [], []],
    ["in ascending order", [NOW - 1, NOW - 3, NOW - 2], [NOW - 3, NOW - 2, NOW - 1]],
    ["not those of an hour ago", [NOW - HOUR, NOW - HOUR + 1], [NOW - HOUR + 1]],
    ["one ahead as of now", [NOW + 1, NOW - 5], [NOW - 5, NOW]],
    ["all ahead as of now", [NOW + 9, NOW + HOUR], [NOW, NOW]],
  ])("%s", (_name, times, expected) => {
    expect(windowOf(...times).current(NOW)).toEqual(expected);
  });
});

it("one ahead leaves an hour after it was first seen", () => {
  const window = windowOf(NOW + 9 * HOUR);
  expect(window.current(NOW)).toEqual([NOW]);
  expect(window.current(NOW + HOUR - 1)).toEqual([NOW]);
  expect(window.current(NOW + HOUR)).toEqual([]);
  expect(window.current(NOW + 9 * HOUR)).toEqual([]);
});

it("one ahead counts as of its own time once that is past, and as of the earliest clock until then", () => {
  const window = windowOf(NOW);
  expect(window.current(NOW - 3)).toEqual([NOW - 3]);
  expect(window.current(NOW - 9)).toEqual([NOW - 9]);
  expect(window.current(NOW - 5)).toEqual([NOW - 9]);
  expect(window.current(NOW)).toEqual([NOW]);
  window.add(NOW);
  expect(window.current(NOW + 1)).toEqual([NOW, NOW]);
});

it("removes one of a time, also one that is ahead, and none of another", () => {
  const window = windowOf(NOW, NOW, NOW - 1);
  window.remove(NOW);
  window.remove(NOW - 2);
  expect(window.current(NOW - 1)).toEqual([NOW - 1, NOW - 1]);
  window.remove(NOW);
  expect(window.current(NOW)).toEqual([NOW - 1]);
});

it("removes of several that are ahead the one of that time, and none of another time", () => {
  const window = windowOf(NOW + 5, NOW + 9);
  expect(window.current(NOW)).toEqual([NOW, NOW]);
  window.remove(NOW + 1);
  expect(window.current(NOW)).toEqual([NOW, NOW]);
  window.remove(NOW + 9);
  expect(window.current(NOW + 9)).toEqual([NOW + 5]);
});

it("one ahead stands where the clock was when it was seen, before what came later", () => {
  const window = windowOf(NOW);
  window.current(NOW - 9);
  window.add(NOW - 5);
  expect(window.current(NOW - 3)).toEqual([NOW - 9, NOW - 5]);
});
