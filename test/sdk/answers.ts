/** The answers of the doubles are those that the official clients expect: one that drifts does not compile. */
import type { Interactions } from "@google/genai";
import type Perplexity from "@perplexity-ai/perplexity_ai";
import type { TavilyGetResearchResponse, TavilyResearchResponse } from "@tavily/core";
import type { AgentRun, AgentRunStatus } from "exa-js";
import type OpenAI from "openai";
import type Parallel from "parallel-web";
import {
  exaRun,
  geminiRun,
  openaiRun,
  parallelError,
  parallelResult,
  parallelRun,
  perplexityCancelled,
  perplexityRun,
  type Run,
  tavilyCreated,
  tavilyRun,
} from "../support/providers/answers.js";

/** `output_text` is a field that the client adds. */
type About<Answer, Word> = (run: Run, word: Word, result: unknown) => Omit<Answer, "output_text">;
type Snake<Name> = Name extends `${infer A}I${infer B}`
  ? `${A}_i${B}`
  : Name extends `${infer A}A${infer B}`
    ? `${A}_a${B}`
    : Name extends `${infer A}T${infer B}`
      ? `${A}_t${B}`
      : Name;
/** Tavily's client writes the names of fields in its own way. */
type OnTheWire<Answer> = { [Name in keyof Answer as Snake<Name>]: Answer[Name] };

type OpenAIWord = OpenAI.Responses.ResponseStatus;
openaiRun satisfies About<OpenAI.Responses.Response, OpenAIWord>;

type PerplexityAnswer = Perplexity.Responses.ResponseRetrieveResponse;
perplexityRun satisfies About<PerplexityAnswer, PerplexityAnswer["status"]>;

perplexityCancelled satisfies (run: Run) => Perplexity.Responses.ResponseCancelResponse;

exaRun satisfies About<AgentRun, AgentRunStatus>;

/** Parallel's client has one name for a run and for what asks for runs. */
type Fields<Answer> = {
  [Name in keyof Answer as Answer[Name] extends (...given: never) => unknown ? never : Name]: Answer[Name];
};
type TaskRun = Fields<Parallel.TaskRun>;
parallelRun satisfies About<TaskRun, TaskRun["status"]>;
parallelResult satisfies About<{ run: TaskRun } & Omit<Parallel.TaskRunResult, "run">, TaskRun["status"]>;

parallelError satisfies (message: string) => Parallel.ErrorResponse;

geminiRun satisfies About<Interactions.Interaction, Interactions.Interaction["status"]>;

tavilyCreated satisfies (run: Run) => OnTheWire<TavilyResearchResponse>;
tavilyRun satisfies (
  run: Run,
  word: string,
  result: unknown,
) =>
  | OnTheWire<TavilyGetResearchResponse>
  | OnTheWire<Pick<TavilyGetResearchResponse, "requestId" | "status" | "responseTime">>;
