import { expect, test } from "vitest";
import { joinBrokenWords } from "../../../src/cli/completion/parse-command-line.js";

// The default of bash(1). `shopt -u hostcomplete` takes the `@` out, and git's completion puts the `:` back in.
const BREAKS = " \t\n\"'@><=;|&(:";

test.each([
  [["quota", "--tier", "=", "en"], BREAKS, ["quota", "--tier=en"], 7],
  [["quota", "--tier", "="], BREAKS, ["quota", "--tier="], 7],
  // bash 3.2 splits nothing, and replaces what follows the sign all the same.
  [["quota", "--tier=en"], BREAKS, ["quota", "--tier=en"], 7],
  [["status", "@", "la"], BREAKS, ["status", "@last".slice(0, 3)], 0],
  [["status", "@"], BREAKS, ["status", "@"], 0],
  [["--base-url", "http", ":", "//host"], BREAKS, ["--base-url", "http://host"], 5],
  [["status", "@la"], BREAKS.replace("@", ""), ["status", "@la"], 0],
  [["--base-url", "http://host"], BREAKS.replace(":", ""), ["--base-url", "http://host"], 0],
  [["quota", "--tier=en"], "", ["quota", "--tier=en"], 0],
  [["status", ""], BREAKS, ["status", ""], 0],
  [[], BREAKS, [], 0],
])("%j with breaks %j", (words, breaks, whole, typedBefore) => {
  expect(joinBrokenWords(words, breaks)).toEqual({ whole, typedBefore });
});
