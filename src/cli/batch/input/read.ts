import type { JsonSchema } from "../../../protocol/conversation.js";
import type { Context } from "../../context.js";
import { UsageError } from "../../errors.js";
import { readTextFile, readTextStream } from "../../input/bytes.js";
import { readSchema } from "../../input/schema.js";
import type { Row } from "../row.js";
import { parseJsonLines, parseLines } from "./lines.js";
import { type Fault, type Format, formatOf, type Parsed } from "./records.js";
import { rowsOf } from "./rows.js";
import { Template } from "./template.js";

export interface InputOptions {
  format?: Format;
  template?: string;
  schema?: string;
  structured?: boolean;
}

/** Everything is checked before anything is sent, so all of it is in memory; this is a hundred thousand long prompts. */
const MAX_BATCH_BYTES = 256 << 20;

/** Reads the input of a batch, a path or `-`, with all that is wrong in it. Throws LocalError for an unreadable file. */
export async function readBatch(
  ctx: Context,
  path: string,
  options: InputOptions,
): Promise<{ rows: Row[]; faults: Fault[] }> {
  const { stdin } = ctx.host;
  if (path === "-" && options.schema === "-")
    throw new UsageError("the batch and the schema cannot both come from stdin");
  const text =
    path === "-"
      ? await readTextStream(stdin.stream, "the batch", ctx.signal, MAX_BATCH_BYTES)
      : await readTextFile(path, "the batch", ctx.signal, MAX_BATCH_BYTES);
  const faults: Fault[] = [];
  const schema = await schemaForAll(ctx, options.schema, faults);
  const template = options.template === undefined ? undefined : new Template(options.template);
  const format = options.format ?? formatOf(path, text, template !== undefined);
  const parsed = await parse(format, text);
  const schemaFault = await checker(parsed);
  const made = rowsOf(parsed, { template, schema, structured: options.structured ?? false, schemaFault });
  return { rows: made.rows, faults: [...made.faults, ...faults] };
}

/** One that is none is named together with the bad rows. */
async function schemaForAll(
  ctx: Context,
  source: string | undefined,
  faults: Fault[],
): Promise<JsonSchema | undefined> {
  if (source === undefined) return undefined;
  try {
    return await readSchema(source, ctx.host.stdin, ctx.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    faults.push({ reason: error.message });
    return undefined;
  }
}

async function parse(format: Format, text: string): Promise<Parsed> {
  if (format === "jsonl") return parseJsonLines(text);
  if (format === "txt") return parseLines(text);
  const { parseCsv } = await import("./csv.js");
  return parseCsv(text);
}

/** The schema checker is loaded only where a row brings a schema. */
async function checker({ records }: Parsed): Promise<(schema: JsonSchema) => string | undefined> {
  if (!records.some(({ fields }) => fields.output_schema)) return () => undefined;
  return (await import("../../input/json-schema.js")).schemaFault;
}
