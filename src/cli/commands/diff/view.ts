import type { ReportDiff } from "../../../app/diff.js";
import { escapeMarkdown } from "../../../core/markdown/escape.js";

/** What changed, as Markdown. */
export function diffMarkdown({ old, new: now, changes, sources }: ReportDiff): string {
  const [before, after] = [old, now].map(({ request_id, file }) => escapeMarkdown(request_id ?? file ?? ""));
  const said = (kind: string) => changes.filter((one) => one.kind === kind).map(itemOf);
  const links = (urls: readonly string[]) =>
    urls.map((url) => `- <${url.replace(/[\s<>]/g, encodeURIComponent)}>`);
  const sections: [string, string[]][] = [
    ["Another figure", said("changed")],
    ["Only in the new one", said("added")],
    ["Only in the old one", said("removed")],
    ["Sources that came", links(sources.added)],
    ["Sources that went", links(sources.removed)],
  ];
  const shown = sections.flatMap(([head, items]) =>
    items.length > 0 ? [`## ${head}`, items.join("\n")] : [],
  );
  return `${["# What changed", `From ${before} to ${after}.`, ...shown].join("\n\n")}\n`;
}

function itemOf({ claim, was }: ReportDiff["changes"][number]): string {
  return `- ${escapeMarkdown(claim)}${was === null ? "" : `\n  - before: ${escapeMarkdown(was)}`}`;
}
