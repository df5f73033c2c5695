import type { Result } from "../client/workflows/fetch-results.js";
import { readString } from "../core/json/exact-json.js";
import { isGroundingRedirect } from "../core/protocol/citations.js";
import { stringifySafe } from "../core/text/safe-text.js";
import { type ReportClaims, readMarkdownClaims } from "../reader/checking/citations.js";
import { formatResult } from "./format-result.js";

const TRACKING = /^(?:utm_.*|gclid|fbclid|mc_cid|mc_eid|ref|srsltid)$/i;

/** Normalizes an address so that equal pages have equal addresses; undefined for an invalid address and for one of Gemini's redirects. */
export function normalizePageAddress(address: string): string | undefined {
  // Two different redirects may lead to the same page, so they cannot be compared.
  if (!URL.canParse(address) || isGroundingRedirect(address)) return undefined;
  const url = new URL(address);
  const query = new URLSearchParams([...url.searchParams].filter(([name]) => !TRACKING.test(name)));
  return `${url.host.replace(/^www\./, "")}${url.pathname.replace(/\/$/, "")}?${query}`;
}

interface NamedPage {
  url: string;
  title: string | null;
}

/** Lists the pages that a result names, each once: those of its sources and citations, or else those in its text. `links`: the addresses in its text, if it has been read. */
export function listNamedPages(result: Result, links?: ReportClaims["links"]): NamedPage[] {
  const { sources = [], citations = [] } = result.data;
  const given = [sources, citations].flat().map(Object);
  const isPage = ({ url }: { url: unknown }) => typeof url === "string" && /^https?:/i.test(url);
  const pages = new Map<string, NamedPage>();
  const listLinks = () =>
    links ?? readMarkdownClaims(formatResult(result), { citations: [], sources: [] }).links;
  for (const { url, title } of (given.some(isPage) ? given : listLinks()).filter(isPage)) {
    const name = normalizePageAddress(url) ?? url;
    const page = pages.get(name) ?? { url, title: null };
    pages.set(name, { ...page, title: page.title ?? readString(title) ?? null });
  }
  return [...pages.values()];
}

/** Builds a result whose value lists the pages of `result` as CSL-JSON or RIS. `date`: when they were accessed, ISO 8601. */
export function buildBibliography(result: Result, form: "csl" | "ris", date: string): Result {
  const day = date.slice(0, 10).split("-");
  const items = listNamedPages(result).map(({ url, title }) => {
    const [address = "", name] = [url, title ?? ""].map((text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim());
    const accessed = { "date-parts": [day.map(Number)] };
    return { id: address, type: "webpage", title: name || address, URL: address, accessed };
  });
  const records = items.map(({ title, URL }) =>
    ["TY  - ELEC", `TI  - ${title}`, `UR  - ${URL}`, `Y2  - ${day.join("/")}`, "ER  - ", ""].join("\r\n"),
  );
  const value = form === "csl" ? `${stringifySafe(items, 2)}\n` : records.join("");
  return { data: Object(items), value, exact: {} };
}
