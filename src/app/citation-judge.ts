import { runWithDeadline } from "../core/clock.js";
import { type CheckedCitation, type CheckOutcome, countVerdicts } from "../core/protocol/check-outcome.js";
import type { FindSupport, SupportVerdict } from "../reader/checking/judge-claims.js";
import type { BudgetLimits } from "../reader/model/session/model-budget.js";
import type { ModelFindings, ModelPlan, SupportOptions } from "../reader/supporting/ask-for-support.js";
import { CodedError } from "./errors.js";
import type { ModelContext, ModelOptions } from "./research-model.js";

export type { ModelFindings, ModelPlan };

/** Gets the events of a model that judges the citations of a report. */
export interface ModelListener {
  onPlan?(plan: ModelPlan): Promise<void>;
  onProgress?(done: number, of: number): void;
  onNotice?(line: string): void;
  /** `reused`: number of answers that were taken from an earlier check. */
  onEnd?(findings: ModelFindings, reused: number): Promise<void>;
}

/** The limits are for each report. */
type CitationJudgeOptions = Pick<SupportOptions, "endpoint" | "limits" | "price" | "clock" | "random">;

/** How long to wait until the endpoint answers whether it requires a key, in ms. */
const ACCESS_MS = 10_000;

/** Measured averages: the citations of a call, and the tokens of a citation. */
const CITATIONS_OF_CALL = 5;
const TOKENS_OF_CITATION = 600;

/** An outcome in its stored form. `unproven`: the indices of citations for which the model gave no proof. */
export type KeptOutcome = CheckOutcome & { unproven?: number[] };

/** The citations for which a model gave no proof. `check --json` does not show them, but a stored outcome does, so that they are not judged again. */
const unprovenCitations = new WeakSet<CheckedCitation>();

/** Returns an outcome in its stored form, which shows which citations need not be judged again. */
export function buildKeptOutcome(outcome: CheckOutcome): KeptOutcome {
  return {
    ...outcome,
    unproven: outcome.citations.flatMap((citation, i) => (unprovenCitations.has(citation) ? i : [])),
  };
}

/** The model that judges the citations of all reports of one command. */
export class CitationJudge {
  readonly #reliability = { replies: 0, failures: 0, isDropped: false };
  /** For each citation that the model judged in this command, the citation as it was before. */
  readonly #before = new WeakMap<CheckedCitation, CheckedCitation>();

  constructor(private readonly options: CitationJudgeOptions) {}

  get name(): string {
    return this.options.endpoint.model;
  }

  get limits(): BudgetLimits {
    return this.options.limits;
  }

  /** The model and its endpoint, for messages: `NAME at http://127.0.0.1:11434`. */
  get title(): string {
    return `${this.name} at ${this.options.endpoint.origin}`;
  }

  /** Rejects with CodedError if the endpoint requires a key and none is set. Ignores any other failure. */
  async requireAccess(signal: AbortSignal): Promise<void> {
    const { clock, endpoint } = this.options;
    const late = new Error("no answer");
    const isKeyless = await runWithDeadline(clock, ACCESS_MS, signal, late, (until) =>
      endpoint.lacksKey(until),
    ).catch((error: unknown) => {
      if (error !== late) throw error;
      return false;
    });
    if (isKeyless)
      throw new CodedError(
        "NOT_AUTHENTICATED",
        `the model endpoint ${endpoint.origin} requires a key, and none is set`,
        {
          hint: "Set RESEARCH_MODEL_API_KEY, or RESEARCH_MODEL_API_KEY_FILE to the path of a file with it.",
        },
      );
  }

  /** Estimates the calls and tokens that the citations need, before their pages are read. */
  estimate(citations: number): ModelPlan {
    const calls = Math.ceil(citations / CITATIONS_OF_CALL);
    return { citations, calls, tokens: citations * TOKENS_OF_CITATION };
  }

  /** Creates the function that judges citations. It reuses an answer of `earlier` if sentence, pages and model are the same. */
  createFinder(
    { onPlan = async () => {}, onProgress, onNotice = () => {}, onEnd }: ModelListener,
    signal: AbortSignal,
    earlier: KeptOutcome | undefined,
  ): FindSupport {
    return async (citations, language, digestOf) => {
      const { askForSupport } = await import("../reader/supporting/ask-for-support.js");
      const answers = await createEarlierAnswerFinder(earlier?.model === this.name ? earlier : undefined)(
        ...[citations, language, digestOf],
      );
      const open = citations.filter((_, i) => !answers[i]);
      const findings = await askForSupport(open, language, {
        ...this.options,
        ...{ reliability: this.#reliability, signal, onPlan, onProgress, notice: onNotice },
      });
      await onEnd?.(findings, citations.length - open.length);
      for (const { citation } of open) this.#before.set(citation, { ...citation });
      const newAnswers = new Map(open.map((citation, i) => [citation, findings.answers[i]]));
      return citations.map((each, i) => answers[i] ?? recordUnproven(each.citation, newAnswers.get(each)));
    };
  }

  /** Whether the model failed the hidden test so often that none of its answers in this command counts. */
  get isDropped(): boolean {
    return this.#reliability.isDropped;
  }

  /** Removes from an outcome the answers that the model gave in this command. */
  removeAnswers({ citations, counts, metrics }: CheckOutcome): void {
    for (const citation of citations) {
      const before = this.#before.get(citation);
      if (!before) continue;
      Object.assign(citation, before);
      unprovenCitations.delete(citation);
    }
    const summary = countVerdicts(citations);
    Object.assign(counts, summary.counts);
    Object.assign(metrics, summary.metrics);
  }

  close(): Promise<void> {
    return this.options.endpoint.close();
  }
}

/** Creates a function that judges citations by the answers of an earlier check, if sentence and pages are the same. */
export function createEarlierAnswerFinder(earlier: KeptOutcome | undefined): FindSupport {
  const answers = mapAnswersByCitation(earlier);
  return async (citations, _language, digestOf) =>
    citations.map(({ citation }) =>
      recordUnproven(citation, answers.get(buildCitationKey(citation, digestOf))),
    );
}

/** Notes whether an answer has no proof. Returns the answer. */
function recordUnproven(
  citation: CheckedCitation,
  answer: SupportVerdict | undefined,
): SupportVerdict | undefined {
  if (answer?.support === null) unprovenCitations.add(citation);
  return answer;
}

/** Maps citations, with the digests of their pages, to the answers of a check. */
function mapAnswersByCitation(outcome: KeptOutcome | undefined): Map<string, SupportVerdict> {
  const digests = new Map(outcome?.pages.map(({ url, sha256 }) => [url, sha256]));
  const citations = outcome?.citations ?? [];
  const unproven = new Set(outcome?.unproven);
  return new Map(
    citations.flatMap(({ support, quote, ...citation }, i) => {
      const answer = support ? { support, quote } : unproven.has(i) && { support: null, quote: null };
      return answer ? [[buildCitationKey(citation, (url) => digests.get(url) ?? null), answer] as const] : [];
    }),
  );
}

function buildCitationKey(
  { claim, field, urls }: Pick<CheckedCitation, "claim" | "field" | "urls">,
  digestOf: (url: string) => string | null,
): string {
  return JSON.stringify([claim, field, urls, urls.map(digestOf)]);
}

interface CitationJudgeContext extends ModelContext {
  host: ModelContext["host"] & { random(): number };
}

/** How long an endpoint may send nothing, in ms (contract §11). */
const SILENCE_MS = 60_000;

/**
 * Opens the model that the flags or else the variables name; undefined if neither do. Rejects with UsageError,
 * BaseUrlError, or LocalError for a key file.
 */
export async function openCitationJudge(
  ctx: CitationJudgeContext,
  { model, modelUrl, ...options }: ModelOptions,
  depth: ModelOptions["depth"] = "standard",
): Promise<CitationJudge | undefined> {
  // A static import would load the search engines and the page reader with every command.
  const { openModelEndpoint, readModelLimits } = await import("./research-model.js");
  const { env, clock } = ctx.host;
  const name = model ?? (env.RESEARCH_MODEL_NAME || undefined);
  const url = modelUrl ?? (env.RESEARCH_MODEL_URL || undefined);
  const endpoint = await openModelEndpoint(
    ctx,
    { ...options, model: name, modelUrl: url },
    "RESEARCH_MODEL_",
  );
  if (endpoint === undefined) return undefined;
  const { ChatEndpoint } = await import("../reader/model/endpoint/chat-endpoint.js");
  return new CitationJudge({
    endpoint: new ChatEndpoint({ ...endpoint, silenceMs: SILENCE_MS }),
    limits: readModelLimits({ depth, ...options }),
    price: options.modelPrice,
    ...{ clock, random: () => ctx.host.random() },
  });
}
