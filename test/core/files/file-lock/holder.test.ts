import { expect, test } from "vitest";
import {
  describeThisProcessAsHolder,
  parseLockHolder,
  readProcessStat,
} from "../../../../src/core/files/file-lock/holder.js";

test("a record that this process wrote names it", () => {
  expect(parseLockHolder(JSON.stringify(describeThisProcessAsHolder()))).toEqual(
    describeThisProcessAsHolder(),
  );
});

test.each(["", "{", "null", "7", "[]", "{}", '{"pid":"1"}', '{"pid":0}', '{"pid":-1}', '{"pid":1.5}'])(
  "%j is a torn record",
  (text) => {
    expect(parseLockHolder(text)).toBeUndefined();
  },
);

test("what has the wrong type is absent", () => {
  const text = '{"pid":1,"host":2,"namespace":3,"began":4,"boot":5}';
  expect(parseLockHolder(text)).toEqual({ pid: 1, host: "" });
});

test.runIf(process.platform === "linux")(
  "a process is known by its state and by when it began (needs /proc)",
  () => {
    expect(readProcessStat(process.pid)).toEqual({ state: "R", began: describeThisProcessAsHolder().began });
    expect(readProcessStat(2 ** 22 + 1)).toBeUndefined();
  },
);
