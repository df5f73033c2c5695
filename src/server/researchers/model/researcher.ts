import type { Clock } from "../../../clock.js";
import type { ExchangeStore } from "../../conversations/exchange-store.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../researcher.js";
import type { Source, SourceProvider } from "../sources/source.js";
import { groundsOf } from "./checks/structured.js";
import { Endpoint, type EndpointOptions } from "./endpoint/endpoint.js";
import { type Fact, placeOf } from "./facts.js";
import { isObject } from "./json.js";
import { LIMIT_FLAGS, nothingFound, report, structured } from "./report.js";
import { Budget, type BudgetLimits, BudgetSpent } from "./session/budget.js";
import { isExchangeRecord } from "./session/exchange-record.js";
import { ContextExceeded } from "./session/sender.js";
import { ModelSession } from "./session/session.js";
import { Transcript } from "./session/transcript.js";
import { untilStored } from "./session/until-stored.js";
import { type Findings, gather } from "./steps/gather.js";
import { noResult, writeAnswer, writeResult } from "./steps/write.js";

export interface ModelResearcherOptions {
  endpoint: Omit<EndpointOptions, "now">;
  /** For each conversation. */
  limits: BudgetLimits;
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
  const { limits, sources, exchanges, clock } = options;
  const endpoint = new Endpoint({ ...options.endpoint, now: () => clock.now() });
  const notice = (line: string) => options.notice(endpoint.hide(line));
  return {
    async research(job, signal) {
      signal.throwIfAborted();
      const requestId = job.request_id;
      const budget = new Budget(limits, clock);
      const storing = { budget, clock, notice, signal };
      const records = await untilStored(() => exchanges.read(requestId), storing);
      const transcript = new Transcript(records.filter(isExchangeRecord));
      const session = new ModelSession({ ...storing, requestId, endpoint, transcript, exchanges });
      const log = (line: string) => options.log(endpoint.hide(`${requestId}: ${line}`));
      const output = await answer(session, sources.for(requestId, signal), job, log).catch(contextFailure);
      signal.throwIfAborted();
      return hidden(output, (text) => endpoint.hide(text));
    },
    async close() {
      await Promise.all([endpoint.close(), sources.close()]);
    },
  };
}

async function answer(
  session: ModelSession,
  sources: Source,
  { prompt, structured_output, output_schema }: ResearchJob,
  log: (line: string) => void,
): Promise<unknown> {
  const findings = await gather(session, sources, prompt);
  const { facts } = findings;
  if (output_schema !== undefined) {
    if (facts.length === 0) throw noResult(emptyBecause(findings));
    const result = await writeResult(session, prompt, facts, output_schema).catch(budgetFailure);
    log(`the values are from ${placesOf(result, facts).join(", ")}`);
    return result;
  }
  if (facts.length === 0 && findings.spent !== undefined) {
    throw new ResearchFailure(`Nothing was found yet: ${limitReached(findings.spent)}.`);
  }
  if (structured_output) return structured(facts);
  if (facts.length === 0) return nothingFound(prompt, findings);
  const written = await writeAnswer(session, prompt, facts);
  return written.sentences.length === 0 ? nothingFound(prompt, findings) : report(prompt, findings, written);
}

/** Where the values of a structured result stand, as `file:line`. */
function placesOf(result: unknown, facts: readonly Fact[]): string[] {
  const quotes = facts.map(({ quote }) => quote);
  return facts.filter((_, index) => groundsOf(result, quotes).includes(index)).map(placeOf);
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
