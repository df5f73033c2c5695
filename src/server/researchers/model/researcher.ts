import type { Clock } from "../../../clock.js";
import { isObject } from "../../../json/is-object.js";
import type { ExchangeStore } from "../../conversations/exchange-store.js";
import {
  type Progress,
  type Researcher,
  ResearchFailure,
  type ResearchJob,
  type Usage,
} from "../researcher.js";
import type { Source, SourceProvider } from "../sources/source.js";
import { textsOf } from "./checks/answer.js";
import { groundsOf } from "./checks/structured.js";
import { Endpoint, type EndpointOptions } from "./endpoint/endpoint.js";
import type { Fact } from "./facts.js";
import type { Length } from "./prompts.js";
import { citedIn, citedSources, LIMIT_FLAGS, nothingFound, report, sourceOf, structured } from "./report.js";
import { Budget, type BudgetLimits, BudgetSpent, type Spent } from "./session/budget.js";
import { isExchangeRecord } from "./session/exchange-record.js";
import { ContextExceeded } from "./session/sender.js";
import { ModelSession } from "./session/session.js";
import { Transcript } from "./session/transcript.js";
import { untilStored } from "./session/until-stored.js";
import { type Findings, gather, type Step } from "./steps/gather.js";
import { noResult, writeAnswer, writeResult } from "./steps/write.js";

/** What a million tokens cost, in dollars. */
export interface Price {
  input: number;
  output: number;
}

export interface ModelResearcherOptions {
  endpoint: Omit<EndpointOptions, "now">;
  /** For each conversation. */
  limits: BudgetLimits;
  length: Length;
  price?: Price | undefined;
  sources: SourceProvider;
  exchanges: ExchangeStore;
  clock: Clock;
  /** Told what the person who runs the service should know. */
  notice: (line: string) => void;
  /** Of the service: names the sources of a structured result, which has no place for them. */
  log: (line: string) => void;
}

/**
 * Researches in the sources with a model: it plans and words, and every quote, every number and every value of a
 * structured result is checked against the sources.
 */
export function modelResearcher(options: ModelResearcherOptions): Researcher {
  const { limits, sources, exchanges, clock, length, price } = options;
  const endpoint = new Endpoint({ ...options.endpoint, now: () => clock.now() });
  const notice = (line: string) => options.notice(endpoint.hide(line));
  return {
    async research(job, signal, tell = () => {}) {
      signal.throwIfAborted();
      const requestId = job.request_id;
      const budget = new Budget(limits, clock);
      const storing = { budget, clock, notice, signal };
      const records = await untilStored(() => exchanges.read(requestId), storing);
      const transcript = new Transcript(records.filter(isExchangeRecord));
      const usage = () => usageOf(budget.spent, price);
      let progress: Progress = { step: "plan", done: 0, of: 1, pages: 0, calls: 0, tokens: 0 };
      const advance = (more: Partial<Progress>) => {
        const { calls, tokens } = budget.spent;
        progress = { ...progress, ...more, calls, tokens };
        tell({ progress, usage: usage() });
      };
      const spent = () => advance({});
      const session = new ModelSession({ ...storing, requestId, endpoint, transcript, exchanges, spent });
      const saying: Saying = {
        length,
        log: (line) => options.log(endpoint.hide(`${requestId}: ${line}`)),
        progress: (step, done = 0, of = 1, pages = progress.pages) => advance({ step, done, of, pages }),
        cited: (facts) => tell({ usage: usage(), sources: citedSources(facts) }),
        usage,
      };
      const output = await answer(session, sources.for(requestId, signal), job, saying).catch(contextFailure);
      signal.throwIfAborted();
      return hidden(output, (text) => endpoint.hide(text));
    },
    async close() {
      await Promise.all([endpoint.close(), sources.close()]);
    },
  };
}

/** What a research says beside its output. */
interface Saying {
  length: Length;
  log: (line: string) => void;
  progress: (step: Step, done?: number, of?: number, pages?: number) => void;
  cited: (facts: readonly Fact[]) => void;
  usage: () => Usage;
}

function usageOf({ calls, tokens, output }: Spent, price: Price | undefined): Usage {
  const input = Math.max(0, tokens - output);
  const usage = { calls, input_tokens: input, output_tokens: output };
  if (price === undefined) return usage;
  const cost = (input * price.input + output * price.output) / 1_000_000;
  return { ...usage, cost_dollars: Number(cost.toFixed(6)) };
}

async function answer(
  session: ModelSession,
  source: Source,
  { prompt, structured_output, output_schema }: ResearchJob,
  { length, log, progress, cited, usage }: Saying,
): Promise<unknown> {
  const findings = await gather(session, source, prompt, progress);
  const { facts } = findings;
  if (facts.length === 0 && findings.spent !== undefined) {
    throw new ResearchFailure(`Nothing was found yet: ${limitReached(findings.spent)}.`);
  }
  if (output_schema !== undefined && facts.length === 0) throw noResult(emptyBecause(findings));
  if (facts.length > 0) progress("write");
  if (output_schema !== undefined) {
    const { value, leftOut } = await writeResult(session, prompt, facts, output_schema).catch(budgetFailure);
    const grounds = groundsIn(value, facts);
    log(`the values are from ${grounds.map(sourceOf).join(", ")}`);
    if (leftOut.length > 0) log(`left out, as it stands in no quote: ${leftOut.join(", ")}`);
    cited(grounds);
    return value;
  }
  const written = facts.length > 0 ? await writeAnswer(session, prompt, findings, length) : undefined;
  const isEmpty = written === undefined || textsOf(written).length === 0;
  cited(isEmpty ? [] : citedIn(written).flatMap((id) => facts[id - 1] ?? []));
  if (structured_output && !isEmpty) return structured(written, facts);
  const description = await session.interruptible(source.describe());
  const about = { question: prompt, findings, description, usage: usage() };
  if (isEmpty && structured_output) return { answer: "", quotes: [], sources: [] };
  return isEmpty ? nothingFound(about) : report(written, about);
}

/** The facts whose quotes hold the values of a structured result. */
function groundsIn(result: unknown, facts: readonly Fact[]): Fact[] {
  const indexes = new Set(
    groundsOf(
      result,
      facts.map(({ quote }) => quote),
    ),
  );
  return facts.filter((_, index) => indexes.has(index));
}

function budgetFailure(error: unknown): never {
  throw error instanceof BudgetSpent ? noResult(limitReached(error.what)) : error;
}

function contextFailure(error: unknown): never {
  if (!(error instanceof ContextExceeded)) throw error;
  throw new ResearchFailure(`The context of the model is too short for what it is asked (${error.message}).`);
}

function emptyBecause({ spent, droppedQuotes }: Findings): string {
  if (spent !== undefined) return limitReached(spent);
  return droppedQuotes > 0
    ? "no quote that the model gave stands in its source"
    : "the sources do not say what the schema asks for";
}

function limitReached(what: keyof BudgetLimits): string {
  return `the limit of ${LIMIT_FLAGS[what]} was reached`;
}

/** A JSON value with `hide` applied to every string in it: a source or the question may hold the key. */
function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((part) => hidden(part, hide));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [hide(name), hidden(part, hide)]));
}
