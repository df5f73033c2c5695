import { decodeHTMLStrict } from "entities/decode";
import type { MarkedToken, Token, Tokens } from "marked";
import { MAX_DEPTH, type NoteToken } from "./bounded-lexer.js";
import type { Inline } from "./document-types.js";
import type { RangeMapper } from "./source-ranges.js";

/** Builds inlines from tokens of marked, which are consecutive parts of a text. `begin`: the offset of the first token. */
export function buildInlines(
  tokens: readonly Token[] | undefined,
  placeOf: RangeMapper,
  begin = 0,
): Inline[] {
  let next = begin;
  const all = ((tokens ?? []) as MarkedToken[]).flatMap((token) => {
    const from = next;
    next += token.raw.length;
    return buildInline(token, placeOf, from);
  });
  return all.some(({ kind }) => kind === "tag") ? nestInlineElements(all) : all;
}

function buildInline(token: MarkedToken | NoteToken, placeOf: RangeMapper, from: number): Inline | Inline[] {
  const buildInside = (marks: number) => buildInlines((token as Tokens.Em).tokens, placeOf, from + marks);
  const place = placeOf(from, from + token.raw.length);
  switch (token.type) {
    case "strong":
      return { ...place, kind: "strong", inlines: buildInside(2) };
    case "em":
      return { ...place, kind: "emphasis", inlines: buildInside(1) };
    case "del":
      return { ...place, kind: "deleted", inlines: buildInside(token.raw.startsWith("~~") ? 2 : 1) };
    case "codespan":
      return { ...place, kind: "code", text: token.text };
    case "br":
      return { ...place, kind: "break" };
    case "link":
      return { ...place, ...buildLink(token as Tokens.Link, placeOf, from) };
    case "image": {
      const address = decodeHTMLStrict(token.href);
      const text = decodeHTMLStrict(token.text) || address;
      return { ...place, kind: "link", address, isImage: true, inlines: [{ ...place, kind: "text", text }] };
    }
    case "note": {
      const { label, isDefined, raw } = token as NoteToken;
      return { ...place, kind: "note", label, text: isDefined ? formatFootnoteMark(label) : raw };
    }
    case "html":
      return { ...place, kind: "tag", text: (token as Tokens.Tag).text };
    case "checkbox":
      return [];
    case "text":
      return buildTextNodes(token as Tokens.Text, placeOf, from);
    default:
      return { ...place, kind: "text", text: token.type === "escape" ? token.text : token.raw };
  }
}

function buildLink({ autolink, href, raw, text, tokens }: Tokens.Link, placeOf: RangeMapper, from: number) {
  const begin = from + (raw.startsWith("[") || raw.startsWith("<") ? 1 : 0);
  const link = { kind: "link", isImage: false } as const;
  if (autolink) {
    const inline = { ...placeOf(begin, begin + text.length), kind: "text", text } as const;
    return { ...link, address: href, inlines: [inline] };
  }
  // If marked removed backslashes before brackets from the text, its parts get the place of the whole link.
  const placeOfText = raw.startsWith(text, 1) ? placeOf : () => placeOf(from, from + raw.length);
  return { ...link, address: decodeHTMLStrict(href), inlines: buildInlines(tokens, placeOfText, begin) };
}

/** Matches a character reference. */
const REFERENCE = /(&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{0,40});)/i;
/** Splits a text into character references, which are decoded, and verbatim parts. */
function buildTextNodes({ raw, escaped }: Tokens.Text, placeOf: RangeMapper, from: number): Inline[] {
  const all: Inline[] = [];
  let at = from;
  for (const [i, part] of (escaped ? [raw] : raw.split(REFERENCE)).entries())
    for (const line of part.split(/(?<=\n)/)) {
      const text = i % 2 === 1 ? decodeHTMLStrict(line) : line;
      if (text !== "") all.push({ ...placeOf(at, at + line.length), kind: "text", text });
      at += line.length;
    }
  return all;
}

/** Matches the tags that mean a style, a link, a citation or hidden text. */
const TAG = /^<(\/?)(br|su[bp]|a|cite|span|summary|h[1-6])\b/i;

/** Nests the inlines between an opening and a closing tag in one element. */
function nestInlineElements(all: readonly Inline[]): Inline[] {
  const open: { tag: Inline & { kind: "tag" }; name: string; before: Inline[] }[] = [];
  let children: Inline[] = [];
  for (const inline of all) {
    const [, slash, tag = ""] = (inline.kind === "tag" && TAG.exec(inline.text)) || [];
    const name = tag.toLowerCase();
    const last = open.at(-1);
    const { start, end } = inline;
    if (inline.kind !== "tag" || name === "") children.push(inline);
    else if (name === "br") children.push({ start, end, kind: "break" });
    else if (!slash && open.length < MAX_DEPTH) {
      open.push({ tag: inline, name, before: children });
      children = [];
    } else if (slash && last?.name === name) {
      const kind = name === "sup" ? "raised" : name === "sub" ? "lowered" : "element";
      const place = { start: last.tag.start, end };
      const element = { ...place, name, opening: last.tag.text, closing: inline.text, inlines: children };
      last.before.push(kind === "element" ? { ...element, kind } : { ...place, kind, inlines: children });
      children = last.before;
      open.pop();
    } else children.push(inline);
  }
  // A tag without a closing tag stays a tag.
  for (const { tag, before } of open.reverse()) children = before.concat(tag, children);
  return children;
}

const RAISED: Readonly<Record<string, string>> = Object.fromEntries(
  [..."0123456789+-−=()ni"].map((char, i) => [char, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ"[i] ?? ""]),
);
const LOWERED: Readonly<Record<string, string>> = Object.fromEntries(
  [..."0123456789+-−=()"].map((char, i) => [char, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"[i] ?? ""]),
);

/** Replaces the characters of a text with raised or lowered ones. Returns the text unchanged if one of them has no such form. */
export function raiseOrLowerText(text: string, kind: "raised" | "lowered"): string {
  const chars = kind === "raised" ? RAISED : LOWERED;
  const all = [...text].map((char) => (/[,;\s]/.test(char) ? char : chars[char]));
  return all.includes(undefined) ? text : all.join("");
}

/** Returns how the mark of a footnote is displayed: a number is raised, any other label is in brackets. */
export function formatFootnoteMark(label: string): string {
  return /^\d+$/.test(label) ? raiseOrLowerText(label, "raised") : `[${label}]`;
}

/** Returns the visible text of inlines. */
export function getVisibleText(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) =>
      "inlines" in inline
        ? getVisibleText(inline.inlines)
        : inline.kind === "break"
          ? " "
          : inline.kind === "tag"
            ? ""
            : inline.text,
    )
    .join("");
}
