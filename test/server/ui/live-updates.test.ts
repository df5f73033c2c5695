import { expect, it } from "vitest";
import {
  diffPageParts,
  hashPageParts,
  renderElapsedTime,
  streamPageChanges,
} from "../../../src/server/ui/live-updates.js";

const parts = (age: string, state = "PENDING") =>
  new Map([
    ["list", `<p>${state} for ${renderElapsedTime("age", age)}</p>`],
    ["still", "<p>always</p>"],
  ]);

it("a time that has passed changes its text alone, anything else the whole part", () => {
  expect(diffPageParts(parts("1s"), parts("1s"))).toBeUndefined();
  expect(diffPageParts(parts("1s"), parts("2s"))).toEqual({ html: {}, text: { age: "2s" } });
  expect(diffPageParts(parts("1s"), parts("2s", "STOPPED"))).toEqual({
    html: { list: `<p>STOPPED for ${renderElapsedTime("age", "2s")}</p>` },
    text: {},
  });
  expect(diffPageParts(new Map(), parts("1s"))?.html).toEqual(Object.fromEntries(parts("1s")));
});

it("a version is that of all but the times", () => {
  expect(hashPageParts(parts("1s"))).toBe(hashPageParts(parts("2s")));
  expect(hashPageParts(parts("1s"))).not.toBe(hashPageParts(parts("1s", "STOPPED")));
});

it("a stream says at once, and after each thirty looks without a change, that there is nothing new", async () => {
  const changesAt = [32, 62, 93];
  let looks = 0;
  const render = async () => {
    looks += 1;
    return parts(`${changesAt.filter((at) => at <= looks).length}s`);
  };
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => {} };
  const { signal } = new AbortController();
  const stream = streamPageChanges(render, hashPageParts(parts("0s")), clock, {
    signal,
    cancelled: () => {},
  });
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const events: (string | undefined)[] = [];
  while (events.length < 7) events.push((await reader.read()).value);
  const change = (age: string) => `data: {"html":{},"text":{"age":"${age}"}}\n\n`;
  const nothing = ": nothing new\n\n";
  const expected = [nothing, nothing, change("1s"), change("2s"), nothing, change("3s")];
  expect(events).toEqual(["retry: 2000\n\n", ...expected]);
  await reader.cancel();
});
