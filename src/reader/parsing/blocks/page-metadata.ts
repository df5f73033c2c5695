import { decodeHTML } from "entities/decode";
import type { ReadDocument } from "../documents/document-reader.js";
import { type HtmlTag, iterateTokens, readAttribute } from "./html-tokens.js";

/** Match the names of a date in the metadata: the last change, which is preferred, and the publication. */
const DATES = [
  /^(?:article:modified_time|og:updated_time|datemodified|last-modified|dcterms\.modified)$/i,
  /^(?:article:published_time|datepublished|date|dc\.date|dcterms\.(?:date|created|issued))$/i,
];
/** Matches the date of publication in the JSON-LD of a page. */
const PUBLISHED = /"datePublished"\s{0,9}:\s{0,9}"([^"]{4,40})"/;
/** How many tags are searched for the title and the date, which are at the beginning of a page. */
const MAX_TAGS = 2_000;
const MAX_TITLE = 300;
const MAX_DATE = 40;
/** Match the metadata and the classes with which a page says that a part of it is only for paying readers. */
const NOT_FREE = /"isAccessibleForFree"\s{0,9}:\s{0,9}"?false/i;
const WALL =
  /\bclass\s{0,9}=\s{0,9}["']?[^"'>]{0,500}?(?<!\bno-?)(?:paywall|pay-wall|regwall|subscribers?-only|premium-wall|metered-content)/i;
const INLINE = new Set(
  "a abbr b bdi bdo cite code em i kbd mark q s small span strong sub sup u var wbr".split(" "),
);

/** Reads the title and the date of a page and, with `wantsText`, all of its text. */
export function readPageMetadata(
  page: string,
  wantsText = false,
): Pick<ReadDocument, "title" | "date" | "text" | "isPaid"> {
  const dates: string[] = [];
  const parts: string[] = [];
  let [title, tags] = ["", 0];
  let [isTitle, isData, isPaid] = [false, false, false];
  for (const token of iterateTokens(page, isCode)) {
    if (token.kind === "text") {
      if (isTitle) title += token.text;
      isPaid ||= isData && NOT_FREE.test(token.text);
      parts.push(decodeHTML(token.text));
      continue;
    }
    tags += 1;
    if (tags <= MAX_TAGS) {
      if (token.name === "title") isTitle = token.kind === "open" && title === "";
      const [rank, date] = readDate(token);
      if (date !== "") dates[rank] ??= date;
    } else if (!wantsText) break;
    else isTitle = false;
    isPaid ||= WALL.test(token.attributes.slice(0, 1_000));
    isData = token.kind === "open" && token.name === "script";
    if (/\b(?:content|datetime|alt|aria-label|value|title)\s*=/i.test(token.attributes))
      parts.push(
        `\n${readAttribute(token, "content|datetime|alt|aria-label|value")}\n${readAttribute(token, "title")}\n`,
      );
    else if (!INLINE.has(token.name)) parts.push("\n");
  }
  const shown = decodeHTML(title).replace(/\s+/g, " ").trim().slice(0, MAX_TITLE);
  const date = dates.find(Boolean) ?? PUBLISHED.exec(page)?.[1];
  return {
    ...(shown !== "" && { title: shown }),
    ...(date !== undefined && { date }),
    ...(wantsText && { text: parts.join(""), isPaid }),
  };
}

function isCode({ name, attributes }: HtmlTag): boolean {
  return name === "style" || (name === "script" && !/json/i.test(attributes.slice(0, 1_000)));
}

/** Returns the date in a tag (empty if there is none), and its rank in DATES. */
function readDate(tag: HtmlTag): [rank: number, date: string] {
  if (tag.kind !== "open" || !["meta", "time"].includes(tag.name)) return [-1, ""];
  const name = tag.name === "time" ? "date" : readAttribute(tag, "property|name|itemprop|http-equiv");
  const rank = DATES.findIndex((pattern) => pattern.test(name));
  const date = rank < 0 ? "" : readAttribute(tag, "content|datetime");
  return [rank, date.length <= MAX_DATE ? date : ""];
}
