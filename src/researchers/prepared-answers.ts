import type { Clock } from "../core/clock.js";
import { stringifyExact } from "../core/json/exact-json.js";
import { checkValue, describeProblem } from "../core/json-schema/check-in-thread.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../core/researcher.js";
import { buildSchemaSample } from "./schema-sample.js";

/** The answer, after `afterMs`, to each question that contains `prompt` literally (`*`: to any question). */
export interface PreparedAnswer {
  prompt: string;
  result: { output: unknown } | { fail: string };
  afterMs: number;
}

const SAMPLE =
  "# A sample\n\nThis is a sample: no research was done. Its text is the same for every question, so that a pipeline can be tested.\n";

/** Creates a researcher that returns the first matching answer; without a match, always the same sample, at once. */
export function createAnswersResearcher(
  answers: readonly PreparedAnswer[],
  clock: Pick<Clock, "sleep">,
): Researcher {
  return {
    takesMisfits: true,
    async research(job, signal) {
      const answer = answers.find(({ prompt }) => prompt === "*" || job.prompt.includes(prompt));
      if (answer === undefined) return buildSampleAnswer(job, signal);
      await clock.sleep(answer.afterMs, signal);
      if ("fail" in answer.result) throw new ResearchFailure(answer.result.fail);
      return answer.result.output;
    },
    close: async () => {},
  };
}

async function buildSampleAnswer({ structured_output, output_schema }: ResearchJob, signal: AbortSignal) {
  if (output_schema === undefined) return structured_output ? { sample: SAMPLE } : SAMPLE;
  const value = buildSchemaSample(output_schema);
  const problem = await checkValue(output_schema, stringifyExact(value), signal);
  if (problem === undefined) return value;
  throw new ResearchFailure(
    `No sample that fits the schema could be made (${describeProblem(problem, "the sample")}). Give a result with --answers FILE.`,
  );
}
