import { expect, test } from "vitest";
import { type PageHeading, renderMarkdown } from "../../../../src/core/markdown/html/render-blocks.js";
import { parseMarkdown } from "../../../../src/core/markdown/parse-markdown.js";

/** A line break between two tags shows nothing. */
const joined = (html: string) => html.replace(/(?<=>)\n|\n(?=<)/g, "");
const html = (markdown: string) =>
  joined(renderMarkdown(parseMarkdown(markdown).blocks, [])).replaceAll(' dir="auto"', "");
const anchor = (href: string, text: string) => `<a href="${href}" rel="noopener noreferrer">${text}</a>`;

test.each([
  ["a heading", "## A *b*", '<h2 id="s1">A <em>b</em></h2>'],
  ["emphasis", "**a** ~~b~~ `<c>`", "<p><strong>a</strong> <del>b</del> <code>&lt;c&gt;</code></p>"],
  ["references", "*a* &amp; &lt;b&gt; &copy;", "<p><em>a</em> &amp; &lt;b&gt; ©</p>"],
  ["a break", "*a*  \nb", "<p><em>a</em><br>b</p>"],
  ["a link", "[a](https://x.y)", `<p>${anchor("https://x.y/", "a")}</p>`],
  ["quotes in an address", `[a](<https://x.y/"'&>)`, `<p>${anchor("https://x.y/%22&#39;&amp;", "a")}</p>`],
  ["an image", "![a](https://x.y/z.png)", `<p>${anchor("https://x.y/z.png", "a")}</p>`],
  ["an image in a link", "[![a](https://x.y/z.png)](https://x.y/)", `<p>${anchor("https://x.y/", "a")}</p>`],
  ["a script as an address", "[a](javascript:alert(1))", "<p>a (javascript:alert(1))</p>"],
  ["a hidden one", "[a](java&#115;cript:b)", "<p>a (javascript:b)</p>"],
  ["a data address", "![a](data:text/html;base64,PHM+)", "<p>a (data:text/html;base64,PHM+)</p>"],
  ["HTML in a line", "*a* <img src=x onerror=b>", "<p><em>a</em> &lt;img src=x onerror=b&gt;</p>"],
  [
    "HTML of its own",
    "---\n\n<script>a</script>",
    '<hr>\n<div class="plain">&lt;script&gt;a&lt;/script&gt;</div>',
  ],
  ["code", '```"><b>\n<i>\n```', "<pre><code>&lt;i&gt;</code></pre>"],
  ["a quote", "> a", "<blockquote><p>a</p></blockquote>"],
  ["a tight list", "- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"],
  [
    "a loose list",
    "3. a\n\n4. b",
    '<ol start="3" class="loose">\n<li><p>a</p></li>\n<li><p>b</p></li>\n</ol>',
  ],
  [
    "what nests too deep, as text",
    `${"> ".repeat(41)}a`,
    `${"<blockquote>".repeat(40)}<div class="plain">&gt; a</div>${"</blockquote>".repeat(40)}`,
  ],
  ["a task", "- [x] a", '<ul>\n<li class="task"><span class="box">☑</span> a</li>\n</ul>'],
  [
    "a table",
    "|a|b|\n|-|-:|\n|1|",
    '<div class="table" tabindex="0"><table>\n<thead><tr><th>a</th><th class="right">b</th></tr></thead>\n' +
      '<tbody><tr><td>1</td><td class="right"></td></tr></tbody>\n</table></div>',
  ],
])("%s", (_name, markdown, expected) => {
  expect(html(markdown)).toBe(joined(expected));
});

test("headings are collected without their links", () => {
  const headings: PageHeading[] = [];
  renderMarkdown(parseMarkdown("# [a](https://x.y)\n\n> ### b").blocks, headings);
  expect(headings).toEqual([
    { id: "s1", level: 1, html: "a" },
    { id: "s2", level: 3, html: "b" },
  ]);
});
