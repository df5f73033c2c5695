import type { Clock } from "../ground/clock.js";
import { exactJson } from "../ground/json/exact-json.js";
import { checkValue, problemText } from "../ground/json-schema/check.js";
import { type Researcher, ResearchFailure, type ResearchJob } from "../ground/researcher.js";

/** The answer to each question in which `prompt` stands as it is written ("*" in any), after so many ms. */
export interface PreparedAnswer {
  prompt: string;
  result: { output: unknown } | { fail: string };
  afterMs: number;
}

const SAMPLE =
  "# A sample\n\nThis is a sample: no research was done. Its text is the same for every question, so that a pipeline can be tested.\n";

/** Answers as the first of `answers` that fits says; everything else gets the same sample at once. */
export function answersResearcher(
  answers: readonly PreparedAnswer[],
  clock: Pick<Clock, "sleep">,
): Researcher {
  return {
    takesMisfits: true,
    async research(job, signal) {
      const answer = answers.find(({ prompt }) => prompt === "*" || job.prompt.includes(prompt));
      if (answer === undefined) return sampleFor(job, signal);
      await clock.sleep(answer.afterMs, signal);
      if ("fail" in answer.result) throw new ResearchFailure(answer.result.fail);
      return answer.result.output;
    },
    close: async () => {},
  };
}

async function sampleFor({ structured_output, output_schema }: ResearchJob, signal: AbortSignal) {
  if (output_schema === undefined) return structured_output ? { sample: SAMPLE } : SAMPLE;
  const value = sampleOf(output_schema, output_schema, 0);
  const problem = await checkValue(output_schema, exactJson(value), signal);
  if (problem === undefined) return value;
  const why = `No sample that fits the schema could be made (${problemText(problem, "the sample")}).`;
  throw new ResearchFailure(`${why} Give a result with --answers FILE.`);
}

type Schema = Record<string, unknown>;
/** A schema that refers to itself ends here: what is deeper has only what is required, and four times as deep is null. */
const MAX_DEPTH = 8;
const FORMATS: Schema = {
  date: "2026-01-01",
  "date-time": "2026-01-01T12:00:00Z",
  email: "sample@example.org",
  uri: "https://example.org/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A value for the usual keywords of `schema`; `root` has what its references name. */
function sampleOf(schema: Schema | undefined, root: Schema, depth: number): unknown {
  const { $ref, allOf, anyOf, oneOf = anyOf, ...own } = schema ?? {};
  if ("const" in own) return own.const;
  if (Array.isArray(own.enum)) return own.enum[0];
  if (depth > 4 * MAX_DEPTH) return null;
  const part = (one: unknown) => sampleOf(one as Schema, root, depth + 1);
  const first = Array.isArray(oneOf) ? [oneOf[0]] : [];
  const target = typeof $ref === "string" ? [$ref.split("/").slice(1).reduce<unknown>(memberOf, root)] : [];
  const parts: Schema[] = [...target, ...first, ...(Array.isArray(allOf) ? allOf : [])];
  if (parts.length > 0) return part([own, ...parts].reduce(merged));
  const {
    properties,
    required = [],
    items,
  } = own as { properties?: Schema; required?: string[]; items?: Schema };
  const number = (name: string, otherwise: number) => Number(own[name] ?? otherwise);
  const type = own.type ?? (properties ? "object" : items ? "array" : "string");
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      const names = [...(depth < MAX_DEPTH ? Object.keys(properties ?? {}) : []), ...required];
      return Object.fromEntries(names.map((name) => [name, part(memberOf(properties, name))]));
    }
    case "array":
      return Array.from({ length: Math.min(number("minItems", depth < MAX_DEPTH ? 1 : 0), 1_000) }, () =>
        part(items),
      );
    case "integer":
    case "number": {
      const step = number("multipleOf", 1);
      const least = Math.max(number("minimum", -Infinity), number("exclusiveMinimum", -Infinity) + step);
      const most = Math.min(number("maximum", Infinity), number("exclusiveMaximum", Infinity) - step);
      return Math.ceil(Math.max(least, Math.min(most, step)) / step) * step;
    }
    case "boolean":
      return true;
    case "null":
      return null;
  }
  const text = String(FORMATS[String(own.format)] ?? "sample").padEnd(
    Math.min(number("minLength", 0), 10_000),
    ".",
  );
  return text.slice(0, number("maxLength", 10_000));
}

/** What a step of a JSON pointer leads to. */
function memberOf(from: unknown, step: string): unknown {
  return (from as Schema | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
}

function merged(one: Schema, other: Schema | undefined): Schema {
  const properties = { ...(one.properties as Schema), ...(other?.properties as Schema) };
  const required = [one.required ?? [], other?.required ?? []].flat();
  return { ...one, ...other, ...(Object.keys(properties).length > 0 && { properties }), required };
}
