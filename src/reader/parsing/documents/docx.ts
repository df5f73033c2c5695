import { strFromU8, unzipSync } from "fflate";
import { iterateTokens, readAttribute } from "../blocks/html-tokens.js";

const MAX_ENTRIES = 1_000;
const MAX_UNPACKED = 64 * 1_048_576;

/** Unpacks parts of a Word document, named without `word/` and `.xml`. Throws if it is invalid or exceeds the limits of entries and text. */
export function readDocxParts(bytes: Uint8Array, names: readonly string[]): Map<string, string> {
  let entries = 0;
  let size = 0;
  const getName = (path: string) => path.replace(/^word\/|\.xml(?:\.rels)?$/g, "");
  const parts = unzipSync(bytes, {
    filter({ name, originalSize }) {
      const isPart = name.startsWith("word/") && names.includes(getName(name));
      entries += 1;
      if (isPart) size += originalSize;
      if (entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      // fflate never unpacks more than the declared size, so the sum is reliable.
      if (size > MAX_UNPACKED) throw new Error(`it unpacks to more than ${MAX_UNPACKED / 1_048_576} MiB`);
      return isPart;
    },
  });
  const texts = new Map(Object.entries(parts).map(([path, part]) => [getName(path), strFromU8(part)]));
  if (!texts.has("document")) throw new Error("it has no text");
  return texts;
}

/** Converts a Word document to HTML, with one line per paragraph and table row. Throws like readDocxParts. */
export function convertDocxToHtml(bytes: Uint8Array): string {
  const parts = readDocxParts(bytes, ["document", "styles"]);
  return convertXml(parts.get("document") ?? "", listHeadingStyles(parts.get("styles") ?? ""));
}

/** Returns the ranks of heading styles by id. The ids depend on the language of the word processor. */
export function listHeadingStyles(xml: string): Map<string, string> {
  const ranks = new Map<string, string>();
  let id = "";
  for (const token of iterateTokens(xml)) {
    if (token.kind !== "open") continue;
    if (token.name === "w:style") id = readAttribute(token, "w:styleId");
    const rank =
      token.name === "w:name" ? /^(?:heading ([1-6])|title)$/i.exec(readAttribute(token, "w:val")) : null;
    if (rank) ranks.set(id, rank[1] ?? "1");
  }
  return ranks;
}

function convertXml(xml: string, headings: ReadonlyMap<string, string>): string {
  const html: string[] = [];
  let text = "";
  let tag = "p";
  let isText = false;
  let cells = 0;
  let cell = "td";
  for (const token of iterateTokens(xml)) {
    const { name } = token.kind === "text" ? { name: "" } : token;
    if (token.kind === "text") {
      if (isText) text += token.text;
    } else if (token.kind === "open") {
      if (name === "w:t") isText = !token.attributes.endsWith("/");
      else if (name === "w:tab" || name === "w:br") text += " ";
      else if (name === "w:pstyle") tag = `h${headings.get(readAttribute(token, "w:val")) ?? ""}`;
      else if (name === "w:numpr" && tag === "p") tag = "li";
      else if (name === "w:tbl") html.push("<table>");
      else if (name === "w:tr") html.push("<tr>");
      else if (name === "w:tc") {
        cells += 1;
        html.push(`<${cell}>`);
      } else if (
        name === "w:tblheader" ||
        (name === "w:tbllook" && readAttribute(token, "w:firstRow") === "1")
      )
        cell = "th";
    } else if (name === "w:t") isText = false;
    else if (name === "w:p") {
      const element = tag === "h" ? "p" : tag;
      if (text.trim() !== "") html.push(cells > 0 ? `${text}<br>` : `<${element}>${text}</${element}>\n`);
      [text, tag] = ["", "p"];
    } else if (name === "w:tc") {
      cells -= 1;
      html.push(`</${cell}>`);
    } else if (name === "w:tr") {
      html.push("</tr>\n");
      cell = "td";
    } else if (name === "w:tbl") html.push("</table>\n");
  }
  return html.join("");
}
