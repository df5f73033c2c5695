/** The type of a text file, which determines how it is split into blocks. */
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

/** Matches a line with an ending, beginning or assignment that is typical of code. */
const CODE_LINE =
  /[;{}()[\],\\]\s*$|^\s*(?:[}\])]|#include|import\s|from\s+\S+\s+import|export\s|const\s|let\s|var\s|def\s|class\s|func(?:tion)?\s|return\b|if\s*\(|fi$|done$|esac$|[$@<\\][\w{(/])|^[\w.-]+\s*(?:=|:=|\+=)\s*\S/;
const SAMPLE = 400;

/** Detects the type of a file by the extension, or by the lines if the extension is unknown. */
export function detectFileType(name: string, text: string): FileType {
  const type = BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
  if (type !== undefined && !(type === "text" && isMarkup(text))) return type;
  if (isMarkup(text)) return "html";
  const lines = text
    .slice(0, 200 * SAMPLE)
    .split(/\r\n|\n|\r/, SAMPLE)
    .filter((line) => line.trim() !== "" && line.length < 1_000);
  const prose = lines.filter(isProse).length;
  const code = lines.filter((line) => CODE_LINE.test(line) && !isProse(line)).length;
  if (/^#!/.test(text) || prose <= code) return "code";
  // Below the first line, a single # may be a comment or prompt of a shell.
  return lines.some((line, i) => (i === 0 ? /^#{1,6} \S|^```/ : /^#{2,6} \S|^```/).test(line))
    ? "markdown"
    : "text";
}

/** Returns whether a line is prose: several words, and few of the characters that are frequent in code. */
function isProse(line: string): boolean {
  const marks = line.match(/[{}<>=;()[\]$\\]/g)?.length ?? 0;
  return marks <= 1 + line.length / 25 && (line.match(/\p{Ll}{2,}/gu)?.length ?? 0) >= 4;
}

function isMarkup(text: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!doctype html|<html[\s>])/i.test(text.slice(0, 1_000));
}
