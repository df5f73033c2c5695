import type { Fact } from "../../src/reader/writing/quoted-facts.js";

/** What a model noted, with this quote from a.md. */
export function factWith(quote: string, more: Partial<Fact> = {}): Fact {
  return { claim: "", document: { id: "a.md", title: "a.md" }, line: 1, heading: "", quote, ...more };
}
