/** The program's name in robots.txt, and in `User-Agent` before the version. */
export const ROBOT = "research-cli";

/** Returns the rules for this program, else those for `*` (RFC 9309 §2.2.1), sorted for isAllowedBy: longest first, "+" before "-". */
export function parseRobotsRules(text: string): string[] {
  const rules = new Map<string, string[]>();
  let agents = new Set<string>();
  let isGroupOpen = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, key = "", value = ""] = /^\s*(user-agent|allow|disallow)\s*:\s*([^#\s]*)/i.exec(line) ?? [];
    if (key === "") continue;
    const isAgent = /^u/i.test(key);
    if (isAgent) {
      if (!isGroupOpen) agents = new Set();
      const agent = value.toLowerCase();
      // Skip other agents, because a file may name thousands.
      if (agent === ROBOT || agent === "*") {
        agents.add(agent);
        rules.set(agent, rules.get(agent) ?? []);
      }
    } else if (value !== "") {
      // Percent-encode the pattern in the same way as an address, so that isRobotsMatch can compare them.
      const rule = `${/^a/i.test(key) ? "+" : "-"}${encodeURI(value).replaceAll("%25", "%")}`;
      for (const agent of agents) rules.get(agent)?.push(rule);
    }
    isGroupOpen = isAgent;
  }
  const patterns = [...new Set(rules.get(ROBOT) ?? rules.get("*"))];
  return patterns.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/** Returns whether the longest matching rule allows `url`; of two equally long rules, the allowing one wins (§2.2.2). */
export function isAllowedByRobots(rules: readonly string[], { pathname, search }: URL): boolean {
  return rules.find((rule) => isRobotsMatch(rule.slice(1), pathname + search))?.startsWith("-") !== true;
}

/** Returns whether a path matches a pattern: `*` matches any text, a final `$` the end of the path. Takes linear time. */
function isRobotsMatch(pattern: string, path: string): boolean {
  const [first = "", ...others] = pattern.replace(/\$$/, "").split("*");
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const place = path.indexOf(part, at);
    if (place < 0) return false;
    at = place + part.length;
  }
  const last = others.at(-1);
  return !pattern.endsWith("$") || (last === undefined ? at === path.length : path.endsWith(last));
}
