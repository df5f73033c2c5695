import type { Clock } from "../../core/clock.js";
import { describeError } from "../../core/text/format-text.js";
import { escapeLine, escapeText, stringifySafe } from "../../core/text/safe-text.js";
import type { Exchange, Observer } from "./observe-exchange.js";

/** Details of a log line in addition to its sentence. */
export interface LogFacts {
  /** Default: error. `info` reports a recovery, and `debug` adds details. */
  level?: "error" | "warning" | "info" | "debug";
  /** The conversation that the line is about. */
  request_id?: string;
  /** The SQLSTATE code of an error from PostgreSQL. */
  sqlstate?: string;
  /** The stack of a defect. */
  stack?: string;
  /** The progress of the research, for JSON logs only. */
  progress?: object;
}

/** Logs an event for operators as a sentence without a full stop. Call it once for each change, not for each request. */
export type Log = (message: string, facts?: LogFacts) => void;

export type LogFormat = "text" | "json";

/** Formats a log line: `TIME LEVEL MESSAGE (FACTS)` with the stack on further lines, or one JSON object. `at`: epoch ms. */
export function formatLogLine(format: LogFormat, at: number, message: string, facts: LogFacts = {}): string {
  const { level = "error", stack, ...more } = facts;
  const time = new Date(at).toISOString();
  if (format === "json") return stringifySafe({ time, level, message, ...more, ...(stack && { stack }) });
  const named = Object.entries(more).map(([name, value]) => `${name} ${value}`);
  const line = escapeLine(`${time} ${level} ${message}${named.length > 0 ? ` (${named.join(", ")})` : ""}`);
  return stack === undefined ? line : `${line}\n  ${escapeText(stack).replaceAll("\n", "\n  ")}`;
}

/** Wraps a log so that no line shows `secret`. */
export function createHidingLog(secret: string | undefined, log: Log): Log {
  if (secret === undefined) return log;
  const hideSecret = (text: string) => text.replaceAll(secret, "[key]");
  return (message, facts) =>
    log(hideSecret(message), {
      ...facts,
      ...(facts?.stack !== undefined && { stack: hideSecret(facts.stack) }),
    });
}

/** Returns the arguments of `Log` for an unexpected error. */
export function describeDefect(error: unknown, facts: LogFacts = {}): Parameters<Log> {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return [`defect: ${message}`, { ...facts, ...(stack && { stack }) }];
}

/** Minimum time between two lines about one trouble, in ms, because its causes may alternate. */
const TROUBLE_MS = 10_000;

/** Logs a trouble when it begins, when its cause changes (at most every 10 s), and when it ends, however often it occurs. */
export class TroubleLog {
  /** The last line about each trouble: its time (monotonic ms) and cause; the cause is undefined once the trouble has ended. */
  readonly #lastLines = new Map<string, { at: number; text?: string }>();
  constructor(
    private readonly log: Log,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  /** Logs that `what` fails, unless the log already says so. `why`: an error, or a text. */
  noteFailure(what: string, why: unknown, facts?: LogFacts): void {
    const text = describeError(why);
    const logged = this.#lastLines.get(what);
    const now = this.clock.monotonic();
    if (logged && (logged.text === text || now - logged.at < TROUBLE_MS)) return;
    for (const [name, { at, text }] of this.#lastLines)
      if (text === undefined && now - at >= TROUBLE_MS) this.#lastLines.delete(name);
    this.#lastLines.set(what, { at: now, text });
    const { sqlstate } = Object(why);
    this.log(`${what} fail: ${text}`, sqlstate ? { ...facts, sqlstate } : facts);
  }

  noteRecovery(what: string): void {
    const logged = this.#lastLines.get(what);
    if (logged?.text === undefined) return;
    delete logged.text;
    this.log(`${what} work again`, { level: "info" });
  }
}

/** Creates an observer that writes a line for each exchange, without queries, keys and prompts. */
export function createAccessLog(format: LogFormat, write: (line: string) => void): Observer {
  const lineOf = format === "json" ? formatJsonLine : formatTextLine;
  return (exchange) => write(`${lineOf(exchange)}\n`);
}

/** Formats an exchange as `TIME METHOD PATH STATUS MS ms KEY REQUEST_ID`, with `-` for a missing value. */
export function formatTextLine(exchange: Readonly<Exchange>): string {
  const { method, path, status, durationMs, keyName, requestId } = exchange;
  const took = `${durationMs.toFixed(1)} ms`;
  const parts = [
    new Date(exchange.at).toISOString(),
    method,
    path,
    status ?? "-",
    took,
    keyName ?? "-",
    requestId ?? "-",
  ];
  return escapeLine(parts.join(" "));
}

/** Formats an exchange as JSON: `time`, `method`, `path`, `status`, `ms`, `key`, `request_id`; null for a missing value. */
export function formatJsonLine(exchange: Readonly<Exchange>): string {
  const { method, path, status, durationMs, keyName, requestId } = exchange;
  return stringifySafe({
    time: new Date(exchange.at).toISOString(),
    method,
    path,
    status: status ?? null,
    ms: Number(durationMs.toFixed(1)),
    key: keyName ?? null,
    request_id: requestId ?? null,
  });
}
