import { formatCount } from "./format-text.js";

const STEPS = {
  plan: "planning",
  search: "searching",
  read: "reading",
  note: "noting",
  write: "writing",
} as const;

/** Describes the progress of research, such as "reading 7 of 12, 48,000 tokens"; undefined for an unknown step. */
export function describeProgress(progress: unknown): string | undefined {
  const { step, done, of, tokens } = Object(progress) as Record<string, unknown>;
  if (step === "queue" && isCount(done) && isCount(of))
    return `waiting, ${groupDigits(done)} before it of ${groupDigits(of)} that wait`;
  if (typeof step !== "string" || !Object.hasOwn(STEPS, step)) return undefined;
  const doing = STEPS[step as keyof typeof STEPS];
  const total = isCount(of) && of > 0 ? ` of ${groupDigits(of)}` : "";
  const how =
    isCount(done) && (total || done > 0) ? `${doing} ${groupDigits(done)}${total || " so far"}` : doing;
  return isCount(tokens) && tokens > 0 ? `${how}, ${formatCount(tokens, "token")}` : how;
}

/** Describes what the research for one question has used, such as "12 calls, 48,000 tokens, $0.04"; undefined if `usage` contains none of these. */
export function describeUsage(usage: unknown): string | undefined {
  const { calls, input_tokens, output_tokens, cost_dollars } = Object(usage) as Record<string, unknown>;
  const parts: string[] = [];
  if (isCount(calls)) parts.push(formatCount(calls, "call"));
  if (isCount(input_tokens) && isCount(output_tokens))
    parts.push(formatCount(input_tokens + output_tokens, "token"));
  if (typeof cost_dollars === "number") parts.push(formatDollars(cost_dollars));
  return parts.length > 0 ? parts.join(", ") : undefined;
}

/** Formats a cost in dollars with two decimals; below a dollar, with up to four. */
export function formatDollars(cost: number): string {
  return `$${cost < 1 ? cost.toFixed(4).replace(/0{1,2}$/, "") : cost.toFixed(2)}`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function groupDigits(count: number): string {
  return count.toLocaleString("en-US");
}
