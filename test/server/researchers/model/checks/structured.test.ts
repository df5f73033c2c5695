import { expect, it } from "vitest";
import {
  groundsOf,
  namesIn,
  unfounded,
} from "../../../../../src/server/researchers/model/checks/structured.js";

const QUOTES = ["The server has 4 threads and listens on port 8080 (`0.0.0.0`)."];
const NAMES = new Set(["threads", "name", "list"]);

it.each<[unknown, string | undefined]>([
  [{ threads: 4, name: "listens on port", list: ["server", 8080, true, null] }, undefined],
  [{ name: "(`" }, undefined],
  [{ threads: 5 }, "5 (threads)"],
  [{ list: [{ name: "client" }] }, '"client" (list[0].name)'],
  [{ port: 8080 }, undefined],
  [{ ports: 8080 }, '"ports"'],
  [{ name: "" }, '"" (name)'],
  [{ name: "{}" }, '"{}" (name)'],
  [17, "17"],
])("%j", (value, expected) => {
  expect(unfounded(value, QUOTES, NAMES)).toBe(expected);
});

it("the quotes that hold a value are known", () => {
  const quotes = ["It has 4 threads.", "Nothing.", "The port is 8080."];
  expect(groundsOf({ list: [8080, { name: "threads" }], open: true }, quotes)).toEqual([0, 2]);
});

it("the names of a schema are found at any depth", () => {
  const item = { type: "object", properties: { deep: {} } };
  expect(
    [...namesIn({ properties: { a: { items: item } }, $defs: { x: { properties: { b: {} } } } })].sort(),
  ).toEqual(["a", "b", "deep"]);
});
