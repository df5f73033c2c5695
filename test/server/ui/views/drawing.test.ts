import { expect, it } from "vitest";
import type { ListedConversation } from "../../../../src/server/conversations/conversation-store.js";
import { statesSvg } from "../../../../src/server/ui/views/drawing.js";

const conversation = (more: Partial<ListedConversation>): ListedConversation => ({
  ...{ requestId: "r", keyId: "k", createdAt: 10_000, status: "PENDING" as const },
  ...more,
});
const shapes = (one: ListedConversation, now: number) =>
  [
    ...statesSvg(one, now).matchAll(/<(?:rect|circle) class="(\w+)" c?x="([\d.]+)"(?:.*?width="([\d.]+)")?/g),
  ].map(([, look, x, width]) => [look, Number(x), width === undefined ? undefined : Number(width)]);

it("PENDING goes on to now", () => {
  expect(shapes(conversation({}), 20_000)).toEqual([["waiting", 0, 992]]);
});

it("PROCESSING follows it, and the end is marked", () => {
  const done = conversation({ status: "COMPLETED", startedAt: 12_500, endedAt: 20_000 });
  const [waiting, busy, end] = shapes(done, 99_000);
  expect(waiting).toEqual(["waiting", 0, 248]);
  expect(busy).toEqual(["busy", 248, 744]);
  expect(end?.slice(0, 2)).toEqual(["done", 992]);
});

it("one that ended at once, or by a clock that was set back, is drawn all the same", () => {
  for (const endedAt of [10_000, 9_000]) {
    const svg = statesSvg(conversation({ status: "STOPPED", endedAt }), 10_000);
    expect(svg).not.toMatch(/NaN|="-/);
    expect(svg).toContain('<circle class="idle"');
  }
});
