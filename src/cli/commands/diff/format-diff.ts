import type { ReportDiff } from "../../../app/diff-reports.js";
import { escapeMarkdown, formatAutolink } from "../../../core/markdown/escape-markdown.js";

/** Formats the changes as Markdown. */
export function formatDiff({ old, new: now, changes, sources }: ReportDiff): string {
  const [before, after] = [old, now].map(({ request_id, file }) => escapeMarkdown(request_id ?? file ?? ""));
  const listOfKind = (kind: string) => changes.filter((change) => change.kind === kind).map(formatChange);
  const formatLinks = (urls: readonly string[]) => urls.map((url) => `- ${formatAutolink(url)}`);
  const sections: [string, string[]][] = [
    ["Another figure", listOfKind("changed")],
    ["Only in the new one", listOfKind("added")],
    ["Only in the old one", listOfKind("removed")],
    ["Sources that came", formatLinks(sources.added)],
    ["Sources that went", formatLinks(sources.removed)],
  ];
  const shown = sections.flatMap(([head, items]) =>
    items.length > 0 ? [`## ${head}`, items.join("\n")] : [],
  );
  return `${["# What changed", `From ${before} to ${after}.`, ...shown].join("\n\n")}\n`;
}

function formatChange({ claim, was }: ReportDiff["changes"][number]): string {
  return `- ${escapeMarkdown(claim)}${was === null ? "" : `\n  - before: ${escapeMarkdown(was)}`}`;
}
