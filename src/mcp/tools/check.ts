import { type Checker, checkRequest, NotCheckedError, openChecker } from "../../app/check-report.js";
import type { CheckNotice } from "../../app/parse-report.js";
import { findTarget } from "../../client/workflows/find-and-query-requests.js";
import { type CheckedCitation, VERDICTS } from "../../core/protocol/check-outcome.js";
import { escapeLine } from "../../core/text/safe-text.js";
import { ASKS, defineTool, field, shape } from "../define-tool.js";
import type { ToolSession } from "../tool-session.js";

const PAGES = 20;
const MOST_PAGES = 100;
const SECONDS = 45;
const MOST_SECONDS = 240;
/** The maximum length of one call's text and of its content (contract §8), in UTF-16 units. */
const MOST_CHARACTERS = 40_000;
/** Characters reserved for the counts and for the separators between citations. */
const BESIDE = 2_000;

export const check = defineTool({
  name: "research_check",
  title: "Check a result against its sources",
  description:
    "Read the pages that the result of a COMPLETED request cites, and look in them for the numbers, dates and quotations of each sentence. Problems are listed first. If `complete` is false, repeat the call to continue. A sentence that is found may still be false, and one that is missing may be true.",
  fields: {
    id: field.required(field.text("The id of a request; @last is the newest one.")),
    pages: field.number(`The maximum number of pages to read. Default: ${PAGES}.`, 1, MOST_PAGES),
    seconds: field.number(`How long to read. Default: ${SECONDS}.`, 1, MOST_SECONDS, { isWhole: false }),
  },
  outputSchema: shape.object({
    ...{
      request_id: shape.text,
      checked_at: shape.text,
      complete: shape.flag,
      counts: shape.object({}),
      omitted: shape.count,
    },
    citations: shape.array(shape.object({ claim: shape.text, verdict: shape.text })),
  }),
  annotations: ASKS,
  async call(session, { id, pages = PAGES, seconds = SECONDS }, call) {
    const signal = AbortSignal.any([call.signal, session.ending]);
    const target = findTarget(session.requireConnected(), id);
    const { requestId } = target;
    const notices: CheckNotice[] = [];
    const listNotices = () => notices.map(({ message }) => escapeLine(message));
    const outcome = await checkRequest(await getChecker(session, requestId), target, {
      ...{ pages, timeoutMs: seconds * 1_000, signal, goesOn: true },
      notices,
      onProgress: ({ done, of }) => void call.progress?.(done, of, `${done} of ${of} pages read`),
    }).catch((error: unknown) => {
      if (!(error instanceof NotCheckedError)) throw error;
      // Add the notices: marks without a source may be why the report cites hardly any page.
      throw new NotCheckedError(
        error.outcome,
        [error.message, ...listNotices()].join(". "),
        error.facts.hint,
      );
    });
    const { checked_at, complete, counts } = outcome;
    const citations = [...outcome.citations].sort(
      (a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict),
    );
    const shown = limitCitations(citations);
    const omitted = citations.length - shown.length;
    const read = outcome.pages.filter(({ state }) => state === "read").length;
    const head = `${VERDICTS.map((verdict) => `${counts[verdict]} ${verdict}`).join(", ")}; ${read} of ${outcome.pages.length} pages could be read.`;
    const more = omitted > 0 ? ` ${omitted} citations are left out here.` : "";
    const goOn = complete ? "" : " Not all pages were read: repeat the call to continue.";
    return {
      content: { request_id: requestId, checked_at, complete, counts, omitted, citations: shown },
      text: `${[`${head}${more}${goOn}`, ...listNotices()].join("\n")}\n${shown.map(formatCitationLine).join("\n")}`,
    };
  },
});

/** The checker of the last checked request, which has read some pages, so that a repeated call can continue. */
const last = new WeakMap<ToolSession, { requestId: string; checker: Checker }>();

async function getChecker(session: ToolSession, requestId: string): Promise<Checker> {
  const lastCheck = last.get(session);
  if (lastCheck?.requestId === requestId) return lastCheck.checker;
  lastCheck?.checker.close();
  const { env, clock } = session.requireConnected();
  const checker = await openChecker({ env, clock });
  session.ending.addEventListener("abort", () => checker.close(), { once: true });
  last.set(session, { requestId, checker });
  return checker;
}

function formatCitationLine({ verdict, claim, missing, urls }: CheckedCitation): string {
  const why = missing.length > 0 ? ` (not on the page: ${missing.join("; ")})` : "";
  return escapeLine(`${verdict}: ${claim}${why} ${urls.join(" ")}`);
}

function limitCitations(citations: readonly CheckedCitation[]): CheckedCitation[] {
  let size = BESIDE;
  const shown = citations.findIndex((citation) => {
    size += Math.max(JSON.stringify(citation).length, formatCitationLine(citation).length);
    return size > MOST_CHARACTERS;
  });
  return citations.slice(0, shown < 0 ? undefined : shown);
}
