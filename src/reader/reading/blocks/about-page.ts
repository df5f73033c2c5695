import { decodeHTML } from "entities/decode";
import { iterateTokens, readAttribute } from "./html-tokens.js";

/** The names of a page's date, that of the last change before that of publication. */
const DATES = [
  /^(?:article:modified_time|og:updated_time|datemodified|last-modified|dcterms\.modified)$/i,
  /^(?:article:published_time|datepublished|date|dc\.date|dcterms\.(?:date|created|issued))$/i,
];
/** The date of publication in the JSON-LD of a page. */
const PUBLISHED = /"datePublished"\s{0,9}:\s{0,9}"([^"]{4,40})"/;
/** How many tags are searched: metadata is at the beginning of a page. */
const MAX_TAGS = 2_000;
const MAX_TITLE = 300;
const MAX_DATE = 40;

/** Reads the title and the date from a page's metadata. */
export function readAboutPage(page: string): { title?: string; date?: string } {
  const dates: string[] = [];
  let title = "";
  let isTitle = false;
  let tags = 0;
  for (const token of iterateTokens(page)) {
    if (token.kind === "text") {
      if (isTitle) title += token.text;
      continue;
    }
    if (++tags > MAX_TAGS) break;
    if (token.name === "title") isTitle = token.kind === "open" && title === "";
    if (token.kind !== "open") continue;
    const name = token.name === "time" ? "date" : readAttribute(token, "property|name|itemprop|http-equiv");
    const rank = ["meta", "time"].includes(token.name)
      ? DATES.findIndex((pattern) => pattern.test(name))
      : -1;
    const date = rank < 0 ? "" : readAttribute(token, "content|datetime");
    if (date !== "" && date.length <= MAX_DATE) dates[rank] ??= date;
  }
  const shown = decodeHTML(title).replace(/\s+/g, " ").trim().slice(0, MAX_TITLE);
  const date = dates.find(Boolean) ?? PUBLISHED.exec(page)?.[1];
  return { ...(shown !== "" && { title: shown }), ...(date !== undefined && { date }) };
}
