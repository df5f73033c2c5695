import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pictures, textOfPicture } from "../../docs/demo/picture.js";
import { terminalSvg } from "../../docs/demo/svg.js";

const docs = join(import.meta.dirname, "../../docs");

test("the pictures say what the program says today; else: npm run demo", async () => {
  const made = await pictures();
  for (const theme of ["light", "dark"] as const) {
    const kept = readFileSync(join(docs, `demo-${theme}.svg`), "utf8");
    expect(textOfPicture(kept)).toBe(textOfPicture(made[theme]));
  }
});

test("they show the real use: a login, a question, the cited report, its cost, and the list", () => {
  const text = textOfPicture(readFileSync(join(docs, "demo-dark.svg"), "utf8"));
  const commands = text.split("\n").filter((line) => line.startsWith("$ "));
  expect(commands).toEqual([
    "$ research login --provider exa",
    "$ research run &quot;Why are there two tides a day?&quot;",
    "$ research show @last | grep cost",
    "$ research list",
  ]);
  // The double stands in for the provider behind its own address, which is what the program shows.
  expect(text).toContain("logged in to https://api.exa.ai");
  expect(text).toMatch(/PROCESSING .*\[1\] https:.*cost +\$0\.10.*COMPLETED/s);
  expect(text).not.toContain("not-a-real-key");
});

test("text from the terminal is text in the picture", () => {
  const run = { color: 1, bold: true, dim: false, italic: false, underline: false };
  const svg = terminalSvg([[{ ...run, text: '<script>"&' }]], "light", "a <b>");
  expect(svg).toContain('<tspan x="20.0" class="b" style="fill:#cf222e">&lt;script&gt;&quot;&amp;</tspan>');
  expect(svg).toContain("<title>a &lt;b&gt;</title>");
});
