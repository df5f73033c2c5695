import { waitUnlessAborted } from "../../core/clock.js";
import { isObject } from "../../core/json/exact-json.js";
import {
  type Progress,
  type Researcher,
  ResearchFailure,
  type ResearchJob,
  type ResearchUpdate,
} from "../../core/researcher.js";
import { ChatEndpoint, type EndpointOptions } from "../model/endpoint/chat-endpoint.js";
import {
  Budget,
  BudgetExceededError,
  type BudgetLimits,
  buildUsage,
  type Price,
} from "../model/session/model-budget.js";
import { ModelSession, type SessionOptions } from "../model/session/model-session.js";
import type { Source, SourceProvider } from "../searching/source.js";
import { hasQuotedValue } from "./checks/structured-values.js";
import {
  buildAnswerData,
  buildModelReport,
  formatCitation,
  listCitedFacts,
  listCitedSources,
} from "./model-report.js";
import type { Length } from "./prompts.js";
import type { Fact } from "./quoted-facts.js";
import { gatherFacts } from "./steps/gather-facts.js";
import { writeAnswer, writeStructuredResult } from "./steps/write-answer.js";

export interface ModelResearcherOptions extends Pick<SessionOptions, "exchanges" | "clock" | "notice"> {
  endpoint: Omit<EndpointOptions, "clock">;
  /** The limits of each conversation. */
  limits: BudgetLimits;
  length: Length;
  price?: Price | undefined;
  sources: SourceProvider;
  /** Writes to the service's log, which names the sources of a structured result, because the result has no place for them. */
  log: (line: string) => void;
}

/**
 * Creates a researcher that uses a model. The model plans and writes; every quote, every number and every value of a
 * structured result is checked against the sources.
 */
export function createModelResearcher(options: ModelResearcherOptions): Researcher {
  const { limits, sources, exchanges, clock, length, price } = options;
  const endpoint = new ChatEndpoint({ ...options.endpoint, clock });
  const hide = (text: string) => endpoint.hide(text);

  async function answer(
    { request_id: requestId, prompt, structured_output, output_schema }: ResearchJob,
    signal: AbortSignal,
    tell: (news: ResearchUpdate) => void,
  ): Promise<unknown> {
    const budget = new Budget(limits, clock);
    const getUsage = () => buildUsage(budget.spent, price);
    let progress: Progress = { step: "plan", done: 0, of: 1, pages: 0, calls: 0, tokens: 0 };
    const advance = (more: Partial<Progress>) => {
      const { calls, tokens } = budget.spent;
      progress = { ...progress, ...more, calls, tokens };
      tell({ progress, usage: getUsage() });
    };
    const cite = (cited: readonly Fact[]) =>
      tell({ usage: getUsage(), sources: hideInStrings(listCitedSources(cited), hide) });
    const log = (line: string) => options.log(hide(`${requestId}: ${line}`));
    const seen = { notice: (line: string) => options.notice(hide(line)), spent: () => advance({}) };
    const session = new ModelSession({ requestId, endpoint, budget, exchanges, clock, signal, ...seen });
    const source = createSafeSource(sources.for(requestId, signal), hide, signal);

    const findings = await gatherFacts(session, source, prompt, advance);
    const { facts } = findings;
    const isEmpty = facts.length === 0;
    if (isEmpty && findings.spent !== undefined)
      throw new ResearchFailure(`Nothing was found yet: ${findings.spent.message}.`);
    if (isEmpty && output_schema !== undefined)
      throw createNoResult(
        findings.droppedQuotes > 0
          ? "none of the quotes from the model is in its source"
          : "the sources do not say what the schema asks for",
      );
    if (!isEmpty) advance({ step: "write", done: 0, of: 1 });
    if (output_schema !== undefined) {
      const result = await writeStructuredResult(session, prompt, facts, output_schema).catch(
        (error: unknown) => {
          throw error instanceof BudgetExceededError ? createNoResult(error.message) : error;
        },
      );
      const { value, leftOut } = result;
      const grounds = facts.filter(({ quote }) => hasQuotedValue(quote, value));
      log(`the values are from ${grounds.map(formatCitation).join(", ")}`);
      if (leftOut.length > 0) log(`left out, since no quote has it: ${leftOut.join(", ")}`);
      cite(grounds);
      return value;
    }
    const draft = isEmpty ? undefined : await writeAnswer(session, prompt, findings, length);
    cite(listCitedFacts(draft, facts));
    if (structured_output) return buildAnswerData(draft, facts);
    const description = await source.describe();
    return buildModelReport(draft, { question: prompt, findings, description, usage: getUsage(), length });
  }

  return {
    facts: { model: options.endpoint.model, saysDollars: options.price !== undefined },
    async research(job, signal, tell = () => {}) {
      signal.throwIfAborted();
      const output = await answer(job, signal, tell);
      signal.throwIfAborted();
      return hideInStrings(output, hide);
    },
    async close() {
      await Promise.all([endpoint.close(), sources.close()]);
    },
  };
}

/** Wraps a source: an abort does not wait for it, and passages that contain the key are left out. */
function createSafeSource(source: Source, hide: (text: string) => string, signal: AbortSignal): Source {
  return {
    search: (query, n) => waitUnlessAborted(source.search(query, n), signal),
    async open(id, from, to) {
      const opened = await waitUnlessAborted(source.open(id, from, to), signal);
      const passages = opened?.passages.filter(({ lines }) => lines.every((line) => hide(line) === line));
      return opened && { ...opened, passages: passages ?? [] };
    },
    describe: () => waitUnlessAborted(source.describe(), signal),
  };
}

function createNoResult(why: string): ResearchFailure {
  return new ResearchFailure(`The structured result failed: ${why}.`);
}

/** Applies `hide` to every string in a JSON value, because a source or the question may contain the key. */
function hideInStrings<T>(value: T, hide: (text: string) => string): T;
function hideInStrings(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((part) => hideInStrings(part, hide));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [hide(name), hideInStrings(part, hide)]),
  );
}
