import { UsageError } from "../../../../machine/errors.js";
import { readTextFile, readTextStream } from "../../../../machine/read-text.js";
import type { CreateBody, JsonSchema } from "../../../../protocol/conversation.js";
import type { Row } from "../../../../workflows/batch/row.js";
import type { Context } from "../../../context.js";
import { completeRequest, readSchema } from "../../../input/create-request.js";
import type { Terminal } from "../../../terminal/reporter.js";
import type { ProviderOptions, RequestOptions } from "../../definition.js";
import {
  type Format,
  formatOf,
  type Parsed,
  parseCsv,
  parseJsonLines,
  parseLines,
  type RowFault,
} from "./formats.js";
import { parseSchema, rowsOf, schemaText, Template } from "./rows.js";

export interface InputOptions extends Omit<RequestOptions, "promptFile">, Partial<ProviderOptions> {
  format?: Format;
  template?: string;
}

/** Everything is checked before anything is sent, so all of it is in memory; this is a hundred thousand long prompts. */
const MAX_BATCH_BYTES = 256 << 20;

/** Reads the input of a batch, a path or `-`, with all that is wrong in it. Throws LocalError for an unreadable file. */
export async function readBatch(
  terminal: Context,
  path: string,
  options: InputOptions & { dryRun?: boolean },
): Promise<{ rows: Row[]; faults: RowFault[] }> {
  const { stdin } = terminal.host;
  if (path === "-" && options.schema === "-")
    throw new UsageError("the batch and the schema cannot both come from stdin");
  const text =
    path === "-"
      ? await readTextStream(stdin.stream, "the batch", terminal.signal, MAX_BATCH_BYTES)
      : await readTextFile(path, "the batch", terminal.signal, MAX_BATCH_BYTES);
  const faults: RowFault[] = [];
  const schema = await schemaForAll(terminal, options.schema, faults);
  const template = options.template === undefined ? undefined : new Template(options.template);
  const format = options.format ?? formatOf(path, text, template !== undefined);
  const parsed = PARSERS[format](text);
  const problems = await schemaProblems(parsed, terminal.signal);
  const structured = options.structured ?? false;
  const { provider } = terminal;
  const after = (await completeRequest(terminal, { prompt: "" }, options)).after;
  const complete = (body: CreateBody) => ({
    ...terminal.asked(body, options),
    ...(after !== undefined && { after }),
  });
  const check = provider && (await terminal.dialect()).create;
  const takesModels = provider !== undefined;
  const made = rowsOf(parsed, {
    ...{ template, schema, structured, takesModels, complete, check, schemaProblems: problems },
  });
  return { rows: made.rows, faults: [...made.faults, ...faults] };
}

/** An invalid one is named together with the bad rows. */
async function schemaForAll(
  terminal: Pick<Terminal, "host" | "signal">,
  source: string | undefined,
  faults: RowFault[],
): Promise<JsonSchema | undefined> {
  if (source === undefined) return undefined;
  try {
    return await readSchema(source, terminal.host.stdin, terminal.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    faults.push({ reason: error.message });
    return undefined;
  }
}

const PARSERS: Readonly<Record<Format, (text: string) => Parsed>> = {
  ...{ jsonl: parseJsonLines, txt: parseLines, csv: parseCsv },
};

/** What is wrong with each schema that a row brings, by its JSON text. The checker is loaded only if there is one. */
async function schemaProblems({ records }: Parsed, signal: AbortSignal): Promise<Map<string, string>> {
  const texts = new Set(records.flatMap(({ fields }) => schemaText(fields.output_schema) ?? []));
  const problems = new Map<string, string>();
  if (texts.size === 0) return problems;
  const { checkSchema, problemText } = await import("../../../../json-schema/check.js");
  for (const text of texts) {
    const schema = parseSchema(text);
    const problem = schema && (await checkSchema(schema, signal));
    if (problem) problems.set(text, problemText(problem, "the top level"));
  }
  return problems;
}
