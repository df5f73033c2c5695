import type { Clock } from "../../core/clock.js";
import { type ExchangeStore, ResearchFailure, type Usage } from "../../core/researcher.js";
import type { PageContent, Pause } from "../checking/indexed-page.js";
import type { ProvenAnswer, ReadCitation, SupportVerdict } from "../checking/judge-claims.js";
import { analyseClaim } from "../checking/judge-sentence.js";
import type { ChatEndpoint } from "../model/endpoint/chat-endpoint.js";
import {
  Budget,
  BudgetExceededError,
  type BudgetLimits,
  buildUsage,
  type Price,
} from "../model/session/model-budget.js";
import { ContextExceededError, ModelSession, UnreadableReplyError } from "../model/session/model-session.js";
import { createControls } from "./control-sentences.js";
import { measureSize, PageExcerpt, type Piece } from "./page-excerpt.js";
import { proveAnswer } from "./prove-answer.js";
import {
  buildVerdictTask,
  LEAST_OUTPUT_OF_EACH,
  type Question,
  readVerdictReply,
} from "./verdict-request.js";

/** The expected cost of asking a model. The number of tokens is an estimate. */
export interface ModelPlan {
  citations: number;
  calls: number;
  tokens: number;
}

/** The replies of a model so far in this command. A reply is a failure if it is unreadable or wrong about a control. */
export interface Reliability {
  replies: number;
  failures: number;
  /** Whether the model has failed so often that none of its answers in this command counts, not even later ones. */
  isDropped: boolean;
}

/** The result of asking a model about citations. */
export interface ModelFindings {
  /** The answer for each citation; undefined if the model was not asked about it. */
  answers: readonly (SupportVerdict | undefined)[];
  usage: Usage;
  /** How many replies were rejected, and how many answers in the other replies were not proven. */
  failures: number;
  unproven: number;
  /** Why the model was not asked about all citations, as a clause; undefined if it was. */
  end: string | undefined;
  /** Whether that was the fault of the model or its endpoint. */
  hasFailed: boolean;
}

export interface SupportOptions {
  endpoint: ChatEndpoint;
  limits: BudgetLimits;
  price?: Price | undefined;
  clock: Clock;
  random: () => number;
  /** Updated by each check. All checks of one command share it. */
  reliability: Reliability;
  /** Called with sentences that the user should see while the model is asked. */
  notice: (line: string) => void;
  /** Called with the expected cost before the first request. */
  onPlan: (plan: ModelPlan) => Promise<void>;
  /** Called before each request: the number of citations asked about so far, and their total. */
  onProgress?: ((done: number, of: number) => void) | undefined;
  /** Ends the work when aborted. Answers that are already proven are kept. */
  signal: AbortSignal;
}

/** The most sentences of a report, and the most characters of passages, in one request (contract §11). */
const MOST_SENTENCES = 8;
const MOST_CHARACTERS = 12_000;
/** How often a group of sentences is tried if the replies are rejected. */
const MOST_TRIES = 2;
/** A model is not asked again if its failures exceed this number and also this share of its replies. */
const MOST_FAILURES = 1;
const MOST_FAILED_SHARE = 0.1;
/** The approximate size of a token of English text in bytes, for the estimate. */
const BYTES_PER_TOKEN = 4;
/** Stores nothing, so that a repeated check asks the model again. */
const NO_EXCHANGES: ExchangeStore = { read: async () => [], append: async () => {} };

interface AskedQuestion extends Question {
  nth: number;
  shown: ReadonlySet<Piece>;
  isMissing: boolean;
}

/** Asks a model about citations and proves its answers. `language`: that of the report. */
export async function askForSupport(
  citations: readonly ReadCitation[],
  language: string | undefined,
  options: SupportOptions,
): Promise<ModelFindings> {
  const { endpoint, limits, price, clock, reliability, notice, onPlan, onProgress, signal } = options;
  const failedBefore = reliability.failures;
  const budget = new Budget(limits, clock);
  const answers: (SupportVerdict | undefined)[] = citations.map(() => undefined);
  const pause = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  };
  let unproven = 0;
  let end: string | undefined;
  let hasFailed = false;
  try {
    const questions = await buildQuestions(citations, language, pause);
    const queue = groupQuestions(questions);
    await onPlan(estimatePlan(queue));
    const session = new ModelSession({
      ...{ requestId: "check", endpoint, budget, exchanges: NO_EXCHANGES, clock, signal },
      ...{ notice: (line: string) => notice(endpoint.hide(line)), spent() {} },
    });
    let done = 0;
    while (queue.length > 0 && isReliable(reliability, queue.length)) {
      const group = queue.shift() ?? [];
      onProgress?.(done, questions.length);
      const replies = await askAboutGroup(group, session, { ...options, pause });
      if (typeof replies === "string") {
        const half = Math.ceil(group.length / 2);
        if (replies === "too-large" && half < group.length)
          queue.unshift(group.slice(0, half), group.slice(half));
        continue;
      }
      for (const { nth } of group) {
        const answer = replies?.get(nth);
        answers[nth] = answer ?? { support: null, quote: null };
        unproven += Number(replies && !answer);
      }
      done += group.length;
    }
  } catch (error) {
    if (!(signal.aborted || error instanceof BudgetExceededError || error instanceof ResearchFailure))
      throw error;
    hasFailed = error instanceof ResearchFailure;
    end = signal.aborted ? "the check was interrupted" : (error as Error).message;
  }
  reliability.isDropped = !isReliable(reliability);
  if (reliability.isDropped) {
    answers.fill(undefined);
    hasFailed = true;
    end = `the model failed the hidden test in ${reliability.failures} of ${reliability.replies} replies, so all of its answers are discarded`;
  }
  const failures = reliability.failures - failedBefore;
  return { answers, usage: buildUsage(budget.spent, price), failures, unproven, end, hasFailed };
}

/** Returns whether a model is reliable enough to be asked, if `more` further replies do not fail. */
function isReliable({ replies, failures, isDropped }: Reliability, more = 0): boolean {
  return !isDropped && (failures <= MOST_FAILURES || failures <= MOST_FAILED_SHARE * (replies + more));
}

async function buildQuestions(
  citations: readonly ReadCitation[],
  language: string | undefined,
  pause: Pause,
) {
  const pages = new Map<PageContent, PageExcerpt>();
  const questions: AskedQuestion[] = [];
  for (const [nth, { citation, over = "", content }] of citations.entries()) {
    await pause();
    const page = pages.get(content) ?? new PageExcerpt(content);
    pages.set(content, page);
    const claim = analyseClaim(citation.claim, language, over);
    const shown = await page.choose(claim, pause);
    questions.push({ nth, claim, page, shown, isMissing: citation.verdict === "missing" });
  }
  const all = [...pages.values()];
  questions.sort((a, b) => all.indexOf(a.page) - all.indexOf(b.page));
  return questions;
}

/** Groups the questions into requests, in the order of their pages, within the limits of a request. */
function groupQuestions(questions: readonly AskedQuestion[]): AskedQuestion[][] {
  const groups: AskedQuestion[][] = [];
  for (const question of questions) {
    const last = groups.at(-1);
    const size = measureSize(listPieces([...(last ?? []), question]));
    if (last && last.length < MOST_SENTENCES && size <= MOST_CHARACTERS) last.push(question);
    else groups.push([question]);
  }
  return groups;
}

function listPieces(group: readonly AskedQuestion[]): Set<Piece> {
  return new Set(group.flatMap(({ shown }) => [...shown]));
}

function estimatePlan(groups: readonly AskedQuestion[][]): ModelPlan {
  const inputs = groups
    .map((group) => buildVerdictTask(group, listPieces(group)))
    .map(({ instructions, input }) => instructions + input);
  const bytes = inputs.reduce((sum, input) => sum + Buffer.byteLength(input), 0);
  const citations = groups.flat().length;
  const output = LEAST_OUTPUT_OF_EACH * (citations + 2 * groups.length);
  return { citations, calls: groups.length, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) + output };
}

/**
 * Asks a model about a group of questions, with controls; a second time if the reply is rejected. Returns the proven answers by
 * citation index; undefined if both replies are rejected. "too-large": the group exceeds the budget or the model's context.
 * "no-controls": the pages offer no sentences for controls.
 */
async function askAboutGroup(
  group: readonly AskedQuestion[],
  session: ModelSession,
  { random, reliability, pause }: SupportOptions & { pause: Pause },
): Promise<Map<number, ProvenAnswer | undefined> | undefined | "too-large" | "no-controls"> {
  const shown = listPieces(group);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const controls = await createControls(group, shown, { random, pause });
    if (!controls) return "no-controls";
    const questions: Question[] = [...group];
    for (const control of [controls.stated, controls.invented])
      questions.splice(Math.floor(random() * (questions.length + 1)), 0, control);
    const task = buildVerdictTask(questions, shown);
    const hasRoomFor = (outputTokens: number) => session.measureRoom({ ...task, outputTokens }) >= 0;
    if (!hasRoomFor(LEAST_OUTPUT_OF_EACH * questions.length)) {
      if (group.length > 1) return "too-large";
      throw new BudgetExceededError("tokens");
    }
    const hasFullRoom = hasRoomFor(task.outputTokens);
    let replies: ReturnType<typeof readVerdictReply>;
    try {
      replies = await session.ask(task, (value) => ({ value: readVerdictReply(value, questions.length) }));
    } catch (error) {
      if (error instanceof ContextExceededError) return "too-large";
      if (!(error instanceof UnreadableReplyError)) throw error;
      if (error.isCut && !hasFullRoom) throw new BudgetExceededError("tokens");
    }
    const prove = (question: Question, isMissing = false) => {
      const reply = replies?.get(questions.indexOf(question) + 1);
      const pieces = [...shown].filter(({ page }) => page === question.page);
      return reply && proveAnswer(question.claim, reply, pieces, isMissing);
    };
    reliability.replies += 1;
    const invention = replies?.get(questions.indexOf(controls.invented) + 1)?.verdict ?? "supported";
    if (prove(controls.stated)?.support === "supported" && invention !== "supported")
      return new Map(group.map((question) => [question.nth, prove(question, question.isMissing)]));
    reliability.failures += 1;
  }
  return undefined;
}
