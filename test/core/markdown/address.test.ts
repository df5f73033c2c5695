import { expect, test } from "vitest";
import { normalizeLink } from "../../../src/core/markdown/document-types.js";

test.each([
  ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["http://example.com", "http://example.com/"],
  ["HTTPS://EXAMPLE.com/A", "https://example.com/A"],
  ["mailto:a@example.com", "mailto:a@example.com"],
  ["https://пример.example/ü", "https://xn--e1afmkfd.example/%C3%BC"],
  ["javascript:alert(1)", undefined],
  ["JaVaScRiPt:alert(1)", undefined],
  [" javascript:alert(1)", undefined],
  ["java\nscript:alert(1)", undefined],
  ["https://example.com/\u001b]8;;", undefined],
  ["data:text/html,<script>", undefined],
  ["file:///etc/passwd", undefined],
  ["vbscript:x", undefined],
  ["//example.com", undefined],
  ["/path", undefined],
  ["#part", undefined],
  ["", undefined],
  ["https://", undefined],
])("%j", (address, expected) => {
  expect(normalizeLink(address)).toBe(expected);
});
