import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readPrompt } from "../../../src/cli/input/read-request.js";
import { LocalError } from "../../../src/core/files/local-error.js";
import { folderWith } from "../../support/folder.js";

const { signal } = new AbortController();
const stdin = (text: string, isTTY = false) => ({
  ...{ isTTY, stream: Readable.from([Buffer.from(text)]) as NodeJS.ReadStream },
});

describe("a prompt", () => {
  type Source = { argument?: string; promptFile?: string; schema?: string };
  const read = ({ argument, ...options }: Source, given = stdin(" from stdin\n")) =>
    readPrompt(argument, options, given, signal);

  test.each<[string, Source, string]>([
    ["an argument", { argument: " a " }, " a "],
    ["an argument while something else reads stdin", { argument: "a", schema: "-" }, "a"],
    ["stdin", {}, " from stdin\n"],
    ["the argument -", { argument: "-" }, " from stdin\n"],
    ["--prompt-file -", { promptFile: "-" }, " from stdin\n"],
  ])("is %s", async (_, parts, prompt) => {
    expect(await read(parts)).toBe(prompt);
  });

  test("is a file, exactly", async () => {
    const folder = folderWith({ prompt: "from a file\n" });
    expect(await read({ promptFile: `${folder}/prompt` })).toBe("from a file\n");
    await expect(read({ promptFile: `${folder}/missing` })).rejects.toThrow(LocalError);
  });

  test("is stdin on a terminal if that is asked for", async () => {
    expect(await read({ argument: "-" }, stdin("typed", true))).toBe("typed");
  });

  test.each<[string, Source, string, boolean]>([
    ["two", { argument: "a", promptFile: "b" }, "two prompts", false],
    ["two, one of them stdin", { argument: "-", promptFile: "b" }, "two prompts", false],
    ["none on a terminal", {}, "no prompt was given", true],
    ["none, and stdin is taken", { schema: "-" }, "no prompt was given", false],
    [
      "stdin twice",
      { argument: "-", schema: "-" },
      "only one of prompt, schema and context can come from stdin",
      false,
    ],
    [
      "stdin twice by a file",
      { promptFile: "-", schema: "-" },
      "only one of prompt, schema and context can come from stdin",
      false,
    ],
    ["a blank one", { argument: " \n" }, "the prompt is blank", false],
    ["one over 1 MiB", { argument: "a".repeat((1 << 20) + 1) }, "the prompt is over 1 MiB", false],
  ])("is invalid: %s", async (_, parts, message, isTTY) => {
    await expect(read(parts, stdin("x", isTTY))).rejects.toThrow(message);
  });

  test("is invalid if stdin or the file is blank", async () => {
    await expect(read({}, stdin(" "))).rejects.toThrow("the prompt is blank");
    const folder = folderWith({ prompt: "\n" });
    await expect(read({ promptFile: `${folder}/prompt` })).rejects.toThrow("the prompt is blank");
  });
});
