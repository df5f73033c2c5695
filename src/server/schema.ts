import { runInNewContext } from "node:vm";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { JsonSchema } from "../protocol/conversation.js";

/** A schema that can be used, or the sentence that says why it cannot. */
export type CompiledSchema = { ok: true; check: Check } | { ok: false; reason: string };

/** What is wrong with a value, one sentence each; empty when it fits. */
type Check = (value: unknown) => string[];

/** Deep or vast schemas would overflow the compiler's stack or keep the service from answering. */
const MAX_DEPTH = 100;
const MAX_NODES = 20_000;

// A client's schema may use words of its own; nothing of it is worth a line on this process's stderr.
const OPTIONS = { strict: false, allErrors: true, logger: false } as const;
const engines = new Map<"draft-07" | "2020-12", Promise<Ajv>>();

/** Compiles a JSON Schema of draft 2020-12, or of draft-07 where `$schema` says so. */
export async function compileSchema(schema: JsonSchema): Promise<CompiledSchema> {
  const size = oversize(schema);
  if (size !== undefined) return { ok: false, reason: size };
  const ajv = await engineFor(schema);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    // Else the engine would keep every schema that a client ever sent.
    ajv.removeSchema(schema);
  }
  return { ok: true, check: (value) => (validate(value) ? [] : (validate.errors ?? []).map(sentence)) };
}

/** How long one check may take, ms: a pattern of a client's can take for ever, and nothing else runs meanwhile. */
const CHECK_MS = 2_000;

/** What is wrong with `value` by `schema`, one sentence each; empty when it fits. */
export async function misfits(schema: JsonSchema, value: unknown): Promise<string[]> {
  const compiled = await compileSchema(schema);
  if (!compiled.ok) return [compiled.reason];
  const check = () => compiled.check(value);
  try {
    return runInNewContext("check()", { check }, { timeout: CHECK_MS });
  } catch {
    return [`checking it took more than ${CHECK_MS / 1000} s`];
  }
}

function engineFor(schema: JsonSchema): Promise<Ajv> {
  const draft = String(schema.$schema ?? "").includes("draft-07") ? "draft-07" : "2020-12";
  let engine = engines.get(draft);
  if (engine === undefined) {
    engine = newEngine(draft);
    engines.set(draft, engine);
  }
  return engine;
}

async function newEngine(draft: "draft-07" | "2020-12"): Promise<Ajv> {
  const [{ Ajv }, { Ajv2020 }, formats] = await Promise.all([
    import("ajv"),
    import("ajv/dist/2020.js"),
    import("ajv-formats"),
  ]);
  const ajv = draft === "draft-07" ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  formats.default.default(ajv);
  return ajv;
}

function sentence(error: ErrorObject): string {
  return `${error.instancePath === "" ? "the result" : error.instancePath} ${error.message ?? "does not fit"}`;
}

/** Why `value` is too much for a schema; undefined when it is not. Stops counting at the limits. */
function oversize(value: unknown): string | undefined {
  let nodes = 0;
  const visit = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const child of Object.values(node)) {
      nodes += 1;
      if (nodes > MAX_NODES) return `it has more than ${MAX_NODES} parts`;
      const found = visit(child, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(value, 0);
}
