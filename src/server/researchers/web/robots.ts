import type { PageFetcher } from "./page-fetcher.js";

/** Our name in robots.txt and before the version in `User-Agent`. */
export const ROBOT = "research-cli";

/** RFC 9309 §2.5 asks for at least 500 KiB. */
const MAX_TEXT = 512_000;

/** What an origin's robots.txt has for us: rules, as in "-/private", or why it cannot be read, which forbids everything. */
export type Robots = { rules: string[] } | { failure: string };

export async function fetchRobots(fetcher: PageFetcher, origin: string): Promise<Robots> {
  const got = await fetcher.fetch(new URL("/robots.txt", origin));
  if ("bytes" in got)
    return { rules: rulesIn(Buffer.from(got.bytes).subarray(0, MAX_TEXT).toString("utf8")) };
  // §2.3.1.3 and §2.3.1.4: one that is not there forbids nothing, one that cannot be read everything.
  const { status = 0, reason } = got;
  return status >= 400 && status < 500 && status !== 429 ? { rules: [] } : { failure: reason };
}

/** The rules of all groups for us, else of all for everybody (RFC 9309 §2.2.1). */
export function rulesIn(text: string): string[] {
  const rules = new Map<string, string[]>();
  let agents: string[] = [];
  let isGroupOpen = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, key = "", value = ""] = /^\s*(user-agent|allow|disallow)\s*:\s*([^#\s]*)/i.exec(line) ?? [];
    if (/^u/i.test(key)) {
      agents = [...(isGroupOpen ? agents : []), value.toLowerCase()];
      for (const agent of agents) rules.set(agent, rules.get(agent) ?? []);
    } else if (value !== "")
      for (const agent of agents) rules.get(agent)?.push(`${/^a/i.test(key) ? "+" : "-"}${value}`);
    if (key !== "") isGroupOpen = /^u/i.test(key);
  }
  return rules.get(ROBOT) ?? rules.get("*") ?? [];
}

/** Whether the longest rule that matches allows `url`; of two equally long ones the one that allows does (§2.2.2). */
export function isAllowedBy(rules: readonly string[], { pathname, search }: URL): boolean {
  const found = rules.filter((rule) => matches(rule.slice(1), pathname + search));
  const longest = Math.max(0, ...found.map(({ length }) => length));
  return longest === 0 || found.some((rule) => rule.length === longest && rule.startsWith("+"));
}

/** `*` stands for any text, `$` at the end for the end of the path. Takes time in proportion to the path. */
function matches(pattern: string, path: string): boolean {
  const [first = "", ...others] = encodeURI(pattern.replace(/\$$/, "")).replaceAll("%25", "%").split("*");
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = others.at(-1);
  return !pattern.endsWith("$") || (last === undefined ? at === path.length : path.endsWith(last));
}
