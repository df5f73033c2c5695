import { expect, test } from "vitest";
import { decodeEntities } from "../../src/markdown/entities.js";

test.each([
  ["a &amp; b", "a & b"],
  ["&lt;b&gt; &quot;&apos;", "<b> \"'"],
  ["&#65;&#x42;&#X43;", "ABC"],
  ["&#128640;", "🚀"],
  ["&#0;&#1114112;", "\ufffd\ufffd"],
  ["&amp;lt;", "&lt;"],
  ["&unknown; & &; &#; &#x;", "&unknown; & &; &#; &#x;"],
  ["&constructor;", "&constructor;"],
  ["&nbsp;|", "\u00a0|"],
])("%j", (text, decoded) => {
  expect(decodeEntities(text)).toBe(decoded);
});
