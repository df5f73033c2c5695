import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pictures, textOfPicture } from "../../demo/picture.js";
import { terminalSvg } from "../../demo/svg.js";

const docs = join(import.meta.dirname, "../../docs");

test("the pictures say what the program says today; else: npm run demo", async () => {
  const made = await pictures();
  for (const theme of ["light", "dark"] as const) {
    const kept = readFileSync(join(docs, `demo-${theme}.svg`), "utf8");
    expect(textOfPicture(kept)).toBe(textOfPicture(made[theme]));
  }
}, 60_000);

test("they show a question, a wait and a cited answer", () => {
  const text = textOfPicture(readFileSync(join(docs, "demo-dark.svg"), "utf8"));
  expect(text).toMatch(/^\$ research run &quot;What happens/);
  expect(text).toContain("PROCESSING");
  expect(text).toMatch(/interface\.md/);
});

test("text from the terminal is text in the picture", () => {
  const run = { color: 1, bold: true, dim: false, italic: false, underline: false };
  const svg = terminalSvg([[{ ...run, text: '<script>"&' }]], "light", "a <b>");
  expect(svg).toContain('<tspan x="20.0" class="b" style="fill:#cf222e">&lt;script&gt;&quot;&amp;</tspan>');
  expect(svg).toContain("<title>a &lt;b&gt;</title>");
});
