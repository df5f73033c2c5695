import { safeResult } from "../../text/safe-text.js";
import { openable } from "../address.js";
import type { Inline } from "../document.js";
import { LOOK, type Run } from "./line.js";

/** The addresses of a document's links, numbered from 1 in the order of their first use. */
export class Addresses {
  readonly #numbers = new Map<string, number>();

  numberOf(address: string): number {
    const number = this.#numbers.get(address) ?? this.#numbers.size + 1;
    this.#numbers.set(address, number);
    return number;
  }

  list(): string[] {
    return [...this.#numbers.keys()];
  }
}

/** Inlines as runs. A link gets its number; an address that may not be opened stands beside its text. */
export function runsOf(inlines: readonly Inline[], addresses: Addresses, look = 0, href?: string): Run[] {
  return inlines.flatMap((inline) => {
    switch (inline.kind) {
      case "text":
        return { text: oneLine(inline.text), look, href };
      case "code":
        return { text: oneLine(inline.text), look: look | LOOK.code, href };
      case "strong":
        return runsOf(inline.inlines, addresses, look | LOOK.bold, href);
      case "emphasis":
        return runsOf(inline.inlines, addresses, look | LOOK.italic, href);
      case "deleted":
        return runsOf(inline.inlines, addresses, look | LOOK.deleted, href);
      case "break":
        return { text: "\n", look: 0 };
      default:
        return linkRuns(inline.address, inline.inlines, addresses, look);
    }
  });
}

function linkRuns(address: string, inlines: Inline[], addresses: Addresses, look: number): Run[] {
  const target = openable(address);
  if (target === undefined) {
    const text = runsOf(inlines, addresses, look);
    const shown = oneLine(address);
    return shown === "" || plainText(text) === shown ? text : [...text, { text: ` (${shown})`, look }];
  }
  const text = runsOf(inlines, addresses, look | LOOK.link, target);
  const shown = plainText(text);
  if (shown === target || shown === address || `mailto:${shown}` === address) return text;
  const number = addresses.numberOf(target);
  if (shown === `[${number}]`) return text;
  return [...text, { text: `\u00a0[${number}]`, look: look | LOOK.faint, href: target }];
}

function plainText(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join("");
}

/** A line break inside a paragraph is a blank. */
function oneLine(text: string): string {
  return safeResult(text.replace(/[\n\r\t]+/g, " "));
}
