import { expect, test } from "vitest";
import { formatResumeCommand } from "../../src/cli/command-context.js";
import { quoteShellWord } from "../../src/core/text/format-text.js";

test.each([
  ["abc-1.2_x@last", "abc-1.2_x@last"],
  ["https://a.example:80/x,y%+=", "https://a.example:80/x,y%+="],
  ["it's $HOME", "'it'\\''s $HOME'"],
  ["''", "''\\'''\\'''"],
  ["a b", "'a b'"],
  ["~", "'~'"],
  ["a\nb", "'a\nb'"],
  ["", "''"],
])("%j is the shell word %s", (text, word) => {
  expect(quoteShellWord(text)).toBe(word);
});

test.each([
  [{}, "research watch id"],
  [{ profile: "my work" }, "research watch id --profile 'my work'"],
  [{ baseUrl: "https://a.example" }, "research watch id --base-url https://a.example"],
  [{ insecureHttp: true }, "research watch id --insecure-http"],
  [{ json: true, verbose: true }, "research watch id"],
  [
    { insecureHttp: true, baseUrl: "http://b", profile: "p" },
    "research watch id --profile p --base-url http://b --insecure-http",
  ],
])("the command that goes on has the global flags of %j", (flags, command) => {
  expect(formatResumeCommand(flags, "watch", ["id"])).toBe(command);
});

test("what begins with a dash stands behind the flags, where it is no flag", () => {
  const command = formatResumeCommand({ profile: "p" }, "output -w", ["-id"], ["--force"]);
  expect(command).toBe("research output -w --force --profile p -- -id");
  expect(formatResumeCommand({}, "batch", ["-"], ["--out", "o"])).toBe("research batch - --out o");
});
