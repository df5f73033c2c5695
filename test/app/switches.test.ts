import { expect, test } from "vitest";
import { UsageError } from "../../src/app/errors.js";
import { readSwitchVariable } from "../../src/app/resolve-settings.js";

test.each([
  ["1", true],
  ["true", true],
  ["yes", true],
  ["0", false],
  ["false", false],
  ["no", false],
  ["", undefined],
  [undefined, undefined],
])("%j is %j", (value, expected) => {
  expect(readSwitchVariable({ X: value }, "X")).toBe(expected);
});

test.each(["2", "on", "off", "y", "TRUE", "No", " 1", "constructor"])("%j is unusable", (value) => {
  const read = () => readSwitchVariable({ RESEARCH_X: value }, "RESEARCH_X");
  expect(read).toThrow(UsageError);
  expect(read).toThrow(
    expect.objectContaining({
      message: `invalid value for RESEARCH_X: ${JSON.stringify(value)}`,
      facts: expect.objectContaining({ hint: "The value must be 1, true or yes, or 0, false or no." }),
    }),
  );
});
