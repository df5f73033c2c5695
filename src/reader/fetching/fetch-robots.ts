import type { CutDocument, DocumentTask } from "../reading/documents/document.js";
import type { NoPage, PageFetcher } from "./page-fetcher.js";

/** RFC 9309 §2.5 asks for at least 500 KiB. */
const MAX_TEXT = 512_000;

/** What an origin's robots.txt has for us: rules, as in "-/private", or why it cannot be read, which forbids everything. */
export type Robots = { rules: string[] } | ({ failure: string } & Partial<Pick<NoPage, "kind" | "status">>);

/** `cut` is the reader of documents: the text is of any site's own making. Rejects with the reason of a stop alone. */
export async function fetchRobots(
  fetcher: PageFetcher,
  origin: string,
  cut: (task: DocumentTask) => Promise<CutDocument>,
): Promise<Robots> {
  const got = await fetcher.fetch(new URL("/robots.txt", origin));
  if ("bytes" in got) {
    const read = await cut({
      name: "/robots.txt",
      bytes: got.bytes.subarray(0, MAX_TEXT),
      isRobots: true,
    });
    return "reason" in read ? { failure: read.reason } : { rules: read.rules ?? [] };
  }
  // §2.3.1.3 and §2.3.1.4: one that is not there forbids nothing, one that cannot be read everything.
  const { kind, status = 0, reason } = got;
  if (status >= 400 && status < 500 && status !== 429) return { rules: [] };
  return { failure: reason, kind, ...(status > 0 && { status }) };
}
