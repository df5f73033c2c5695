import { safeJson, safeLine } from "../../text/safe-text.js";
import type { Exchange, Observer } from "./exchange.js";

export type LogFormat = "text" | "json";

/** Writes a line for each exchange: never a query, a key or a prompt. */
export function accessLog(format: LogFormat, write: (line: string) => void): Observer {
  const lineOf = format === "json" ? jsonLine : textLine;
  return (exchange) => write(`${lineOf(exchange)}\n`);
}

/** `TIME METHOD PATH STATUS MS ms KEY REQUEST_ID`, with `-` for a missing value. */
export function textLine(exchange: Readonly<Exchange>): string {
  const { method, path, status, durationMs, keyName, requestId } = exchange;
  const took = `${durationMs.toFixed(1)} ms`;
  const parts = [timeOf(exchange), method, path, status ?? "-", took, keyName ?? "-", requestId ?? "-"];
  return safeLine(parts.join(" "));
}

/** One object: `time`, `method`, `path`, `status`, `ms`, `key`, `request_id`; null for a missing value. */
export function jsonLine(exchange: Readonly<Exchange>): string {
  const { method, path, status, durationMs, keyName, requestId } = exchange;
  return safeJson({
    time: timeOf(exchange),
    method,
    path,
    status: status ?? null,
    ms: Number(durationMs.toFixed(1)),
    key: keyName ?? null,
    request_id: requestId ?? null,
  });
}

function timeOf({ at }: Readonly<Exchange>): string {
  return new Date(at).toISOString();
}
