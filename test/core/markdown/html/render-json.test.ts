import { expect, test } from "vitest";
import { renderJson } from "../../../../src/core/markdown/html/render-json.js";

const html = (json: string) =>
  renderJson(json)
    .replaceAll(' dir="auto"', "")
    .replaceAll('<span class="literal">', "<i>")
    .replaceAll('<span class="text">', "<s>")
    .replace(/<\/span>/g, "</>");

test.each([
  ["an exact number", "1234567890123456789.10", "<i>1234567890123456789.10</>"],
  ["text", '"<b>\\u001b"', "<s>&lt;b&gt;\\u{1b}</>"],
  ["an address", '"https://x.y"', '<a href="https://x.y/" rel="noopener noreferrer"><s>https://x.y</></a>'],
  ["a script as one", '"javascript:a"', "<s>javascript:a</>"],
  ["an object", '{"a<": null}', "<dl>\n<dt>a&lt;</dt>\n<dd><i>null</></dd>\n</dl>"],
  ["nothing in it", "[{}, []]", '<ul class="values">\n<li><i>{}</></li>\n<li><i>[]</></li>\n</ul>'],
  [
    "like objects",
    '[{"a": 1, "b": "x"}, {"a": -2}]',
    '<div class="table" tabindex="0"><table>\n<thead><tr><th class="right">a</th><th>b</th></tr></thead>\n<tbody>' +
      '<tr><td class="right"><i>1</></td><td><s>x</></td></tr>\n<tr><td class="right"><i>-2</></td><td></td></tr>' +
      "</tbody>\n</table></div>",
  ],
  [
    "unlike objects",
    '[{"a": 1, "b": 2, "c": 3}, {"d": 4}]',
    '<ul class="values">\n<li><dl>\n<dt>a</dt>\n<dd><i>1</></dd>\n<dt>b</dt>\n<dd><i>2</></dd>\n<dt>c</dt>\n<dd><i>3</></dd>\n</dl></li>\n' +
      "<li><dl>\n<dt>d</dt>\n<dd><i>4</></dd>\n</dl></li>\n</ul>",
  ],
])("%s", (_name, json, expected) => {
  expect(html(json)).toBe(expected);
});

test("what nests a million levels deep is shown as JSON", () => {
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  expect(renderJson(deep)).toBe(`<pre><code>${deep}</code></pre>`);
});
