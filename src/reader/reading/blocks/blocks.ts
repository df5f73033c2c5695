import type { Block } from "./block.js";
import { codeBlocks } from "./code-blocks.js";
import { csvBlocks } from "./csv-blocks.js";
import { htmlBlocks } from "./html-blocks.js";
import { textSizes } from "./html-elements.js";
import { textBlocks } from "./text-blocks.js";

/** Cuts the text of the file `name` into blocks, in the order of the file. */
export function blocksOf(name: string, text: string): Block[] {
  const type = fileType(name, text);
  if (type === "html") return htmlBlocks(text);
  if (type === "markdown" || type === "text") return textBlocks(text, type);
  return (type === "csv" ? csvBlocks(text) : undefined) ?? codeBlocks(text);
}

/** What is said of a file or page by `hasNearlyNoText`. */
export const NEARLY_NO_TEXT = "nearly no text was found in it";

/** Whether less than a tenth of the text of the file `name` is in its `blocks`: it is read wrongly, or is data. */
export function hasNearlyNoText(name: string, text: string, blocks: readonly Block[]): boolean {
  if (blocks.length === 0) return text.trim() !== "";
  let found = 0;
  let above = "";
  for (const { lines, heading } of blocks) {
    for (const line of lines) found += line.trim().length;
    if (heading !== above) found += heading.length;
    above = heading;
  }
  const isHtml = fileType(name, text) === "html";
  return found * 10 < text.length && found * 10 < (isHtml ? textSizes(text).size : text.trim().length);
}

/** What the text of a file is, which says how it is cut into blocks. */
type FileType = "markdown" | "text" | "html" | "csv" | "code";

const BY_NAME: readonly [RegExp, FileType][] = [
  [/\.(?:md|markdown|mdx)$/i, "markdown"],
  [/\.(?:x?html?)$/i, "html"],
  [/\.[ct]sv$/i, "csv"],
  [/\.(?:txt|text|rst|adoc|asciidoc|org|tex|man|\d)$/i, "text"],
  [
    /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|[ch](?:pp|xx|c)?|cc|hh|cs|php|pl|pm|sh|bash|zsh|fish|lua|sql|css|scss|less|json[c5]?|ya?ml|toml|ini|cfg|conf|xml|svg|gradle|r|jl|scala|ex|exs|erl|hs|ml|vue|svelte|proto|diff|patch|lock)$/i,
    "code",
  ],
];

/** A line that ends or begins as one of code does, or assigns something. */
const CODE_LINE =
  /[;{}()[\],\\]\s*$|^\s*(?:[}\])]|#include|import\s|from\s+\S+\s+import|export\s|const\s|let\s|var\s|def\s|class\s|func(?:tion)?\s|return\b|if\s*\(|fi$|done$|esac$|[$@<\\][\w{(/])|^[\w.-]+\s*(?:=|:=|\+=)\s*\S/;
const SAMPLE = 400;

/** What a file is: by its name if that tells, else by its lines. A name without an extension tells nothing. */
export function fileType(name: string, text: string): FileType {
  const known = BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined && !(known === "text" && looksLikeMarkup(text))) return known;
  if (looksLikeMarkup(text)) return "html";
  const lines = text
    .slice(0, 200 * SAMPLE)
    .split(/\r\n|\n|\r/, SAMPLE)
    .filter((line) => line.trim() !== "" && line.length < 1_000);
  const prose = lines.filter(isProse).length;
  const code = lines.filter((line) => CODE_LINE.test(line) && !isProse(line)).length;
  if (/^#!/.test(text) || prose <= code) return "code";
  // A single # below the first line is a comment of a shell, or its prompt.
  return lines.some((line, i) => (i === 0 ? /^#{1,6} \S|^```/ : /^#{2,6} \S|^```/).test(line))
    ? "markdown"
    : "text";
}

/** Text for people has words between blanks and few of the marks that code is full of. */
function isProse(line: string): boolean {
  const marks = line.match(/[{}<>=;()[\]$\\]/g)?.length ?? 0;
  return marks <= 1 + line.length / 25 && (line.match(/\p{Ll}{2,}/gu)?.length ?? 0) >= 4;
}

function looksLikeMarkup(text: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!doctype html|<html[\s>])/i.test(text.slice(0, 1_000));
}
