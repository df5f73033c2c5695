import { safeJson } from "../text/safe-text.js";
import type { Result } from "../workflows/results.js";

/** A result for printing: text as it is, anything else as indented JSON in which every number and name is exact. */
export function resultText({ value, exact }: Pick<Result, "value" | "exact">): string {
  return typeof value === "string" ? value : `${safeJson(exact, 2)}\n`;
}

/** The same with the list of a provider's sources at the end of a text in which none of their addresses stands. */
export function textWithSources(result: Result): string {
  const text = resultText(result);
  const { sources } = result.data;
  if (typeof result.value !== "string" || !Array.isArray(sources)) return text;
  const found: { url: string; title: unknown }[] = sources
    .map(Object)
    .filter(({ url }) => typeof url === "string");
  if (result.data.provider_status === undefined || found.length === 0) return text;
  if (found.some(({ url }) => text.includes(url))) return text;
  const lines = found.map(
    ({ url, title }, index) => `${index + 1}. [${titleOf(title, url)}](${encoded(url)})`,
  );
  return `${text.trimEnd()}\n\n## Sources\n\n${lines.join("\n")}\n`;
}

function titleOf(title: unknown, url: string): string {
  const words = typeof title === "string" ? title.replace(/\s+/g, " ").trim() : "";
  return (words || url).replace(/[[\]\\<>`*_]/g, "\\$&");
}

/** What would end a link in Markdown. */
function encoded(url: string): string {
  return url.replace(/[\s<>()\\]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
