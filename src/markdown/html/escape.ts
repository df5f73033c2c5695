import { safeResult } from "../../text/safe-text.js";

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML that shows it, in content and in quoted attributes. Control characters and bidi marks show as `\u{…}`. */
export function escapeHtml(text: string): string {
  return safeResult(text).replace(/[&<>"']/g, (char) => REFERENCES[char] ?? char);
}
