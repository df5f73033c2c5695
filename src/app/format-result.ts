import { hasNullForNothingFound } from "../client/dialects/providers.js";
import type { Result } from "../client/workflows/fetch-results.js";
import type { SchemaProblem } from "../core/json-schema/check-in-thread.js";
import { stringifySafe } from "../core/text/safe-text.js";

/** Formats a result for output: a text unchanged, anything else as indented JSON with exact numbers and names. */
export function formatResult({ value, exact }: Pick<Result, "value" | "exact">): string {
  return typeof value === "string" ? value : `${stringifySafe(exact, 2)}\n`;
}

/** Describes in a sentence why a result does not fit its schema. */
export async function describeSchemaMismatch(
  { value, data }: Result,
  problem: SchemaProblem,
): Promise<string> {
  const { describeProblem } = await import("../core/json-schema/check-in-thread.js");
  const names = problem.path?.split("/").slice(1) ?? [];
  const at = names.reduce(
    (part: unknown, name) => Object(part)[name.replaceAll("~1", "/").replaceAll("~0", "~")],
    value,
  );
  const why = at === null && hasNullForNothingFound(data) ? ": Exa found no evidence for it" : "";
  return `the result does not fit its schema: ${describeProblem(problem, "the result")}${why}`;
}

/** Formats a result as `formatResult` does, and appends a provider's sources to a text that contains none of their addresses. */
export function formatWithSources(result: Result): string {
  const text = formatResult(result);
  const { sources } = result.data;
  if (typeof result.value !== "string" || !Array.isArray(sources)) return text;
  const listed: { url: unknown; title: unknown }[] = sources.map(Object);
  const urls = listed.flatMap(({ url }) => (typeof url === "string" ? [url] : []));
  if (result.data.provider_status === undefined || urls.length === 0) return text;
  if (urls.some((url) => text.includes(url))) return text;
  // Do not number the sources beside a numbered list of the text, because its marks would then lead to them.
  const hasNumbers = /^ {0,3}(?:1[.)]|\[\^?1\]:?)\s.*https?:/m.test(text);
  // The text may cite sources by number, so a source without an address keeps its number.
  const lines = listed.map(({ url, title }, index) => {
    const name = formatSourceTitle(title, typeof url === "string" ? url : "without an address");
    return `${hasNumbers ? "-" : `${index + 1}.`} ${typeof url === "string" ? `[${name}](${encodeLinkAddress(url)})` : name}`;
  });
  return `${text.trimEnd()}\n\n## Sources\n\n${lines.join("\n")}\n`;
}

function formatSourceTitle(title: unknown, url: string): string {
  const words = typeof title === "string" ? title.replace(/\s+/g, " ").trim() : "";
  return (words || url).replace(/[[\]\\<>`*_]/g, "\\$&");
}

/** Escapes the characters that would end a link in Markdown. */
function encodeLinkAddress(url: string): string {
  return url.replace(/[\s<>()\\]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
