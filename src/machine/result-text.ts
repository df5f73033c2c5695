import { safeJson } from "../text/safe-text.js";
import type { Result } from "../workflows/results.js";

/** A result for printing: text as it is, anything else as indented JSON in which every number and name is exact. */
export function resultText({ value, exact }: Pick<Result, "value" | "exact">): string {
  return typeof value === "string" ? value : `${safeJson(exact, 2)}\n`;
}
