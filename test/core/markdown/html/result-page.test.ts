import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderResultPage } from "../../../../src/core/markdown/html/result-page.js";
import STYLE from "../../../../src/core/markdown/html/style.css?raw";
import { anyText } from "../../../support/any-text.js";

const FACTS = {
  question: "What <is> it?",
  requestId: "r-1",
  origin: "https://research.example",
  createdAt: "2026-01-01T10:00:00Z",
  completedAt: "2026-01-01T10:05:00Z",
};
const markdownPage = (text: string) => renderResultPage({ kind: "markdown", text }, FACTS);

test("a page has footnotes below, raised and parted, and lays out what HTML raises, lowers and breaks", () => {
  const html = markdownPage("A[^1].\n\n> `b`\n\n[^1]: See <i>*here*</i>");
  expect(html).toContain('<p dir="auto">A¹.</p>');
  expect(html).toContain('<p dir="auto"><strong>¹</strong> See &lt;i&gt;<em>here</em>&lt;/i&gt;</p>');
  expect(html).toContain("<code>b</code>");
  expect(markdownPage("*A*<br>b<sup>2</sup> c<SUB>3</SUB><b>[^1][^2]\n\n[^1]: d\n[^2]: e")).toContain(
    '<p dir="auto"><em>A</em><br>b<sup>2</sup> c<sub>3</sub>&lt;b&gt;¹&nbsp;²</p>',
  );
});

describe("a page", () => {
  const text = "# Title *here*\n\nBody.\n";
  const html = markdownPage(text);

  test("allows its own style and nothing else", () => {
    const hash = createHash("sha256").update(STYLE).digest("base64");
    expect(html).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).toContain(`<style>${STYLE}</style>`);
    expect(html).not.toMatch(/<script|<img|<link|\bsrc=|\bstyle=|@import|url\(/);
  });

  test("says where it comes from", () => {
    const sha256 = createHash("sha256").update(text).digest("hex");
    for (const fact of ["What &lt;is&gt; it?", "r-1", "https://research.example", sha256])
      expect(html).toContain(`<dd dir="auto">${fact}</dd>`);
    for (const time of ["2026-01-01T10:00:00Z", "2026-01-01T10:05:00Z"])
      expect(html).toContain(`<time datetime="${time}">${time}</time>`);
  });

  test("is light, dark and fit for print", () => {
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain("@media (prefers-color-scheme: dark)");
    expect(html).toContain("@media print");
  });

  test("has the title of its result, else the question", () => {
    expect(html).toContain("<title>Title here</title>");
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect(markdownPage("Only text.")).toContain("<title>What &lt;is&gt; it?</title>");
    expect(markdownPage("Only text.")).toContain('<h1 class="question" dir="auto">What &lt;is&gt; it?</h1>');
    const unasked = renderResultPage(
      { kind: "markdown", text: "Only text." },
      { requestId: "r-1", origin: "o" },
    );
    expect(unasked).toContain("<title>Result of r-1</title>");
    expect(unasked).not.toContain("Question");
  });

  test.each([
    [3, false],
    [4, true],
  ])("with %i headings has contents: %s", (count, has) => {
    const page = markdownPage("## A [b](https://x.y) & c\n\n".repeat(count));
    expect(page.includes("<nav")).toBe(has);
    if (has) expect(page).toContain('<a href="#s4" dir="auto">A b &amp; c</a>');
  });

  test.each([
    ["the result's own", "# Title\n\nWords.\n\n"],
    ["the question", ""],
  ])("has its contents under %s title", (_name, start) => {
    const page = markdownPage(`${start}${"## Part\n\n".repeat(4)}`);
    const tags = [...page.matchAll(/<(h1|nav|p|h2)\b/g)].map(([, tag]) => tag);
    const words = start === "" ? [] : ["p"];
    expect(tags).toEqual(["h1", "nav", "h2", ...words, ...Array(4).fill("h2")]);
  });

  test("names every heading but its title in the contents", () => {
    const page = markdownPage("## Before\n\n# Title\n\n## One\n\n# Two\n");
    const named = [...page.matchAll(/<li class="l\d"><a href="#(s\d)" dir="auto">([^<]*)/g)];
    expect(named.map(([, id, name]) => [id, name])).toEqual([
      ["s1", "Before"],
      ["s3", "One"],
      ["s4", "Two"],
    ]);
    expect(page).toContain("<title>Title</title>");
  });

  test("has a long question cut as its title, and the request's where no question is known", () => {
    const long = renderResultPage({ kind: "json", text: "[]" }, { ...FACTS, question: "why ".repeat(100) });
    expect(long).toMatch(/<h1 class="question" dir="auto">(?:why )+w?h?y?…<\/h1>/);
    const unknown = renderResultPage({ kind: "json", text: "[]" }, { requestId: "r-1", origin: "o" });
    expect(unknown).toContain('<h1 class="question" dir="auto">Result of r-1</h1>');
  });

  test("shows a structured result too, under the question", () => {
    const page = renderResultPage({ kind: "json", text: '{\n  "a": 1e400\n}\n' }, FACTS);
    expect(page).toContain('<h1 class="question" dir="auto">What &lt;is&gt; it?</h1>');
    expect(page).toContain('<dt dir="auto">a</dt>\n<dd><span class="literal">1e400</span></dd>');
  });

  test.each([
    ["over 2 MiB", `# a\n${"b".repeat(2 * 1024 * 1024)}`],
    ["that cannot be laid out", "> - > - > - a\nb\n".repeat(5_000)],
  ])("shows a result %s as it came", (_name, long) => {
    expect(markdownPage(long)).toContain(`<pre><code>${long.replaceAll(">", "&gt;")}</code></pre>`);
  });
});

const TAGS =
  /<\/?(?:html|head|body|meta|title|style|main|nav|header|footer|h[1-6]|p|div|pre|code|blockquote|[uod]l|li|d[td]|table|thead|tbody|t[rhd]|hr|br|a|em|strong|del|sup|sub|span|time|!doctype)(?: (?:lang|id|class|dir|href|rel|start|tabindex|charset|http-equiv|name|content|datetime|aria-labelledby)(?:="[^"<>]*")?| html)*>/g;
const fragment = fc.constantFrom(
  ...[
    "# ",
    "> ",
    "- ",
    "\n",
    "\n\n",
    "|",
    "|-|-|\n",
    "**",
    "`",
    "```\n",
    "[a](",
    ")",
    "![",
    "<",
    ">",
    '"',
    "'",
    "&",
  ],
  ...[
    "<script>",
    "</style>",
    "<!--",
    "-->",
    "javascript:",
    "https://x.y/",
    "<img src=x onerror=a>",
    "&lt;",
    "&#60;",
  ],
  ...["\u001b[2J", "\u009b", "\u202e", "\ud800", "\0", '" onclick="', "word ", "[1]: <", "data:text/html,"],
);
const hostile = fc.array(fc.oneof(fragment, anyText), { maxLength: 40 }).map((p) => p.join(""));

test("no input makes a tag, an attribute or a control character", () => {
  fc.assert(
    fc.property(hostile, hostile, fc.boolean(), (text, question, structured) => {
      const result = structured
        ? ({ kind: "json", text: JSON.stringify({ [text]: [text, { [question]: text }] }) } as const)
        : ({ kind: "markdown", text } as const);
      const html = renderResultPage(result, { ...FACTS, question, requestId: question, origin: text });
      const rest = html.replace(STYLE, "").replace(TAGS, "");
      expect(rest).not.toMatch(/[<>]/);
      expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u);
      for (const [, href = ""] of html.matchAll(/ href="([^"]*)"/g))
        expect(href).toMatch(/^(?:https?:|mailto:|#s\d+$)/);
    }),
    { numRuns: 200 },
  );
});
