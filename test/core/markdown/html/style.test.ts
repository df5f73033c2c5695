import { expect, test } from "vitest";
import STYLE from "../../../../src/core/markdown/html/style.css?raw";
import { contrast, LEAST_CONTRAST } from "../../../support/contrast.js";

const BACKGROUNDS = ["paper", "tint"];
const NO_TEXT = [...BACKGROUNDS, "line"];

/** The colours of each `:root` block, over those of the blocks before it. */
const [light = {}, dark = {}, print = {}] = Array.from(
  STYLE.matchAll(/:root \{([^}]*)\}/g),
  ([, block = ""]) =>
    Object.fromEntries(
      Array.from(block.matchAll(/--(\w+): #(\w+);/g), ([, name = "", hex = ""]) => [name, rgb(hex)]),
    ),
);

/** `fff` or `ffffff` */
function rgb(hex: string): number[] {
  const pairs = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
  return pairs.map((pair) => Number.parseInt(pair, 16));
}

test.each([
  ["light", light],
  ["dark", { ...light, ...dark }],
  ["print", { ...light, ...print }],
  ["print of a dark browser", { ...light, ...dark, ...print }],
])("each colour of text has a contrast of 4.5 to each background: %s", (_name, colours) => {
  const texts = Object.entries(colours).filter(([name]) => !NO_TEXT.includes(name));
  expect(texts.map(([name]) => name)).toEqual(["ink", "soft", "link", "mark", "done", "bad", "busy"]);
  const low = BACKGROUNDS.flatMap((background) =>
    texts.flatMap(([name, colour]) => {
      const ratio = contrast(colour, colours[background] ?? []);
      return ratio >= LEAST_CONTRAST ? [] : [`${name} on ${background}: ${ratio.toFixed(2)}`];
    }),
  );
  expect(low).toEqual([]);
});

test("no colour stands outside these blocks", () => {
  expect(STYLE.replace(/:root \{[^}]*\}/g, "")).not.toMatch(/#[0-9a-f]{3,6}\b|rgb|hsl|opacity/);
});
