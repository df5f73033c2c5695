import { honest } from "./held-sentences.js";

/** A page for a cited web. */
export const POOL = {
  "/pool": `<title>Pool</title><h1>Pool</h1><p>The pool takes 1,600 connections, more than any pool before it. It was
    built in 2019 by the core team of the project.</p><p>Its queue holds 250 requests. A full queue refuses them.</p>`,
};
/** What a check with an honest model finds of each sentence, and the words that prove it. */
export const SET = [
  ["supported", "The pool takes 1,600 connections.", "The pool takes 1,600 connections"],
  ["contradicted", "The queue of the pool holds 1,600 requests.", "Its queue holds 250 requests."],
  [
    "supported",
    "Pool and queue hold 1,850 together.",
    "The pool takes 1,600 connections […] Its queue holds 250 requests.",
  ],
  ["not_stated", "The pool was rewritten in Rust.", ""],
].map(([verdict = "", text = "", quote = ""]) => ({
  ...{ kind: "true" as const, pages: ["/pool"], text, quote },
  verdict: verdict as "supported" | "contradicted" | "not_stated",
}));
/** A report whose sentences cite the page of `POOL` at `url`. */
export const buildReport = (url: string, more: readonly string[] = []) =>
  [...SET.map(({ text }) => text), ...more]
    .map((text) => `${text.slice(0, -1)} ([p](${url}/pool)).`)
    .join("\n\n");
/** An honest model. */
export const HELD = honest(SET);
