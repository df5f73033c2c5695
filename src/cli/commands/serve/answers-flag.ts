import * as v from "valibot";
import { refuseFlagsBeside, UsageError } from "../../../app/errors.js";
import { readText } from "../../../app/read-text.js";
import {
  findMemberText,
  JsonText,
  parseExactElements,
  stringifyExact,
} from "../../../core/json/exact-json.js";
import type { Researcher } from "../../../core/researcher.js";
import { parseDuration } from "../../../core/text/time-format.js";
import { createAnswersResearcher } from "../../../researchers/prepared-answers.js";
import type { Context } from "../../command-context.js";
import type { ServeOptions } from "./flags.js";

const MAX_ANSWERS_BYTES = 64 << 20;
const isDuration = (after: string | number) => parseDuration(String(after)) !== undefined;
const ANSWER = {
  prompt: v.string(),
  after: v.optional(
    v.pipe(v.union([v.string(), v.number()]), v.check(isDuration, "it is not a duration")),
    0,
  ),
};
const ANSWERS = v.array(
  v.union(
    [v.strictObject({ ...ANSWER, output: v.unknown() }), v.strictObject({ ...ANSWER, fail: v.string() })],
    'it is not {"prompt", "output" or "fail", and perhaps "after"}',
  ),
  "it is not a JSON array",
);
const EXAMPLE =
  'As in [{"prompt": "tides", "output": "…", "after": "2s"}, {"prompt": "*", "fail": "No source answered."}]';

/** Creates the researcher of `--answers`; undefined without that flag. Rejects with UsageError for conflicting flags or an invalid file, or LocalError. */
export async function openAnswersFlag(
  { host, signal }: Context,
  options: Partial<
    Pick<ServeOptions, "answers" | "sources" | "search" | "model" | "researcher" | "upstream">
  >,
): Promise<Researcher | undefined> {
  const { answers: file, sources, search, model, researcher, upstream } = options;
  if (file === undefined) return undefined;
  refuseFlagsBeside("--answers", { sources, search, model, researcher, upstream });
  if (file === "sample") return createAnswersResearcher([], host.clock);
  const text = await readText(file, "the file of answers", signal, MAX_ANSWERS_BYTES);
  try {
    const elements = parseExactElements(text);
    const answers = v.parse(ANSWERS, elements).map(({ prompt, after, ...result }, index) => {
      // Valibot's copy has lost the original text, without which numbers would not stay exact.
      const text = findMemberText((elements as object[])[index] ?? {}, "output");
      const exact = "fail" in result ? result : { output: text && new JsonText(stringifyExact(text)) };
      return { prompt, result: exact, afterMs: parseDuration(String(after)) ?? 0 };
    });
    return createAnswersResearcher(answers, host.clock);
  } catch (error) {
    const at = error instanceof v.ValiError ? v.getDotPath(error.issues[0]) : undefined;
    const where = at === undefined || at === null ? "" : `answer ${Number(at.split(".")[0]) + 1}: `;
    throw new UsageError(`invalid --answers: ${file}: ${where}${(error as Error).message}`, EXAMPLE);
  }
}
