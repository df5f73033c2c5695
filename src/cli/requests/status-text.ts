import { safeLine } from "../../text/safe-text.js";
import type { Style } from "../terminal/style.js";

/** A state in its colour. */
export function statusWord(status: string, style: Style): string {
  const word = safeLine(status);
  switch (status) {
    case "COMPLETED":
      return style.good(word);
    case "FAILED":
    case "UNKNOWN":
      return style.bad(word);
    case "STOPPED":
      return style.dim(word);
    default:
      return style.busy(word);
  }
}

/** What something cost, with as many digits as say something. */
export function dollars(cost: number): string {
  return `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

/** One request and its state: `id<TAB>STATUS`. */
export function statusLine(requestId: string, status: string, style: Style): string {
  return `${requestId}\t${statusWord(status, style)}`;
}
