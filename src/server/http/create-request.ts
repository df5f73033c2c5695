import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import { isObject, parseExact } from "../../core/json/exact-json.js";
import type { checkSchema as CheckSchema } from "../../core/json-schema/check-in-thread.js";
import { KeyedMutex } from "../../core/keyed-mutex.js";
import type { JsonSchema } from "../../core/protocol/conversation.js";
import type { ResearchJob } from "../../core/researcher.js";
import { checkIsAnswerable } from "./request-checks.js";
import { createTooManyRequests, HttpError } from "./responses.js";

/** Maximum time that checking the schemas of one key may take within `MINUTE_MS`, in ms. */
const CHECKS_MS = 10_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** Limits the time that is spent on checking the schemas of each key. */
export class CheckTimes {
  /** For each key, the time spent on checks (ms) in each second of the last minute, oldest first; `at`: monotonic ms. */
  readonly #spent = new Map<string, { at: number; ms: number }[]>();
  constructor(private readonly clock: Clock) {}

  /** Throws a HttpError (429) if the key's time in the last minute is used up. */
  checkLeft(keyId: string): void {
    const now = this.clock.monotonic();
    const recent = (this.#spent.get(keyId) ?? []).filter(({ at }) => at > now - MINUTE_MS);
    this.#spent.set(keyId, recent);
    let left = CHECKS_MS;
    const full = recent.findLast(({ ms }) => {
      left -= ms;
      return left <= 0;
    });
    if (full === undefined) return;
    const message = `The checks of this key's schemas took ${CHECKS_MS / SECOND_MS} s within a minute.`;
    throw createTooManyRequests(message, full.at + MINUTE_MS - now);
  }

  /** Adds the duration of a check that has just ended. */
  add(keyId: string, ms: number): void {
    const at = this.clock.monotonic();
    const spent = this.#spent.get(keyId) ?? [];
    const last = spent.at(-1);
    if (last && at - last.at < SECOND_MS) last.ms += ms;
    else spent.push({ at, ms });
    this.#spent.set(keyId, spent);
  }
}

/** Checks schemas, one at a time for each key and within the key's time, so that one key cannot delay all others. */
export class SchemaChecks {
  readonly #turns = new KeyedMutex();
  constructor(
    private readonly times: CheckTimes,
    /** The module is loaded for the first schema. */
    private readonly checkSchema: typeof CheckSchema = async (...question) =>
      (await import("../../core/json-schema/check-in-thread.js")).checkSchema(...question),
  ) {}

  /** Throws a HttpError if the schema is unusable (400), or if the key's time is used up (429). */
  check(keyId: string, schema: JsonSchema, request: IncomingMessage): Promise<void> {
    return this.#turns.run(keyId, async () => {
      checkIsAnswerable(request);
      this.times.checkLeft(keyId);
      const problem = await this.checkSchema(schema, undefined, (ms) => this.times.add(keyId, ms));
      if (problem === undefined) return;
      const { describeProblem } = await import("../../core/json-schema/check-in-thread.js");
      const why = describeProblem(problem, "the top level");
      throw createInvalidError(`The field output_schema is not a usable JSON Schema: ${why}.`);
    });
  }
}

/** Parses the body of a create request (§2) without checking its schema, and applies defaults. Throws VALIDATION_ERROR (§7). */
export function parseCreateBody(bytes: Uint8Array): Omit<ResearchJob, "request_id"> {
  const body = parseBodyJson(bytes);
  if (!isObject(body)) throw createInvalidError("The request body must be a JSON object.");
  const { prompt, structured_output = false, output_schema } = body;
  if (prompt === undefined) throw createInvalidError("The field prompt is required.");
  if (typeof prompt !== "string") throw createInvalidError("The field prompt must be a string.");
  if (prompt.trim() === "") throw createInvalidError("The field prompt must not be blank.");
  if (typeof structured_output !== "boolean") {
    throw createInvalidError("The field structured_output must be a boolean.");
  }
  if (output_schema === undefined) return { prompt, structured_output };
  if (!isObject(output_schema)) {
    throw createInvalidError("The field output_schema must be an object: a JSON Schema.");
  }
  if (!structured_output) {
    throw createInvalidError("The field output_schema needs structured_output to be true.");
  }
  return { prompt, structured_output, output_schema };
}

function parseBodyJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0)
    throw createInvalidError("The request body is empty; it must be a JSON object with a prompt.");
  try {
    return parseExact(new TextDecoder("utf-8", { fatal: true }).decode(bytes), "output_schema");
  } catch {
    throw createInvalidError("The request body is not valid JSON in UTF-8.");
  }
}

function createInvalidError(message: string): HttpError {
  return new HttpError("VALIDATION_ERROR", message);
}
