const TESTS = /(?:^|\/)(?:tests?|__tests__|fixtures|bench)\/|[._](?:test|spec)\.\w+$/i;
/** In some projects a folder of tests, in others one of documents: a specification. */
const SPECIFICATION = /(?:^|\/)specs?\//i;
const OTHERS = /(?:^|\/)(?:licen[cs]e|third_party|changelog|copying)|[-.]lock\b|-lock\.\w+$/i;

/** Documents (1) answer questions better than code, code better than tests, licences and lists of packages. */
export function sourceRank(file: string, kind: "prose" | "table" | "code"): number {
  if (TESTS.test(file) || (kind === "code" && SPECIFICATION.test(file))) return 0.2;
  if (OTHERS.test(file)) return 0.1;
  return kind === "code" ? 0.6 : 1;
}
