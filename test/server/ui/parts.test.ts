import { expect, it } from "vitest";
import { changeOf, ticking, versionOf } from "../../../src/server/ui/parts.js";

const parts = (age: string, state = "PENDING") =>
  new Map([
    ["list", `<p>${state} for ${ticking("age", age)}</p>`],
    ["still", "<p>always</p>"],
  ]);

it("a time that has passed changes its text alone, anything else the whole part", () => {
  expect(changeOf(parts("1s"), parts("1s"))).toBeUndefined();
  expect(changeOf(parts("1s"), parts("2s"))).toEqual({ html: {}, text: { age: "2s" } });
  expect(changeOf(parts("1s"), parts("2s", "STOPPED"))).toEqual({
    html: { list: `<p>STOPPED for ${ticking("age", "2s")}</p>` },
    text: {},
  });
  expect(changeOf(new Map(), parts("1s"))?.html).toEqual(Object.fromEntries(parts("1s")));
});

it("a version is that of all but the times", () => {
  expect(versionOf(parts("1s"))).toBe(versionOf(parts("2s")));
  expect(versionOf(parts("1s"))).not.toBe(versionOf(parts("1s", "STOPPED")));
});
