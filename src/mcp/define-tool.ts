import type { ToolAnnotations } from "@modelcontextprotocol/server";
import { describeFailure, type Failure } from "../app/describe-failure.js";
import { CodedError, EXIT_CODES } from "../app/errors.js";
import { CreateRefusedError, QuotaExceededError } from "../client/workflows/errors.js";
import { isObject } from "../core/json/exact-json.js";
import type { Data } from "../core/protocol/conversation.js";
import type { ToolSession } from "./tool-session.js";

export interface ToolCall {
  readonly signal: AbortSignal;
  /** Reports progress to the client; undefined if the client did not request that. */
  readonly progress: ((done: number, total: number, message: string) => Promise<void>) | undefined;
}

/** The result of a tool. Without `text`, the client gets the JSON of the content as text. */
export interface ToolReply {
  content: Data;
  text?: string;
}

export interface Tool<F extends ToolFields = ToolFields> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly fields: F;
  readonly outputSchema: OutputSchema;
  readonly annotations: ToolAnnotations | ((session: ToolSession) => ToolAnnotations);
  /** Whether the tool creates or stops requests, so that `--read-only` omits it. */
  readonly changes?: boolean;
  call(session: ToolSession, given: Arguments<F>, call: ToolCall): Promise<ToolReply> | ToolReply;
}

/** Defines a tool. The compiler derives the arguments of `call` from `fields`. */
export function defineTool<F extends ToolFields>(definition: Tool<F>): Tool {
  return definition;
}

export const ASKS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** One argument of a tool: its JSON Schema for the client, and the check of the value that the client sends. */
export interface Field<T = unknown> {
  json: JsonObject;
  /** The rule for valid values, as a predicate whose subject is the argument: "must be true or false". */
  must: string;
  fits(value: unknown): boolean;
  /** The type of valid values, for the compiler only. No field has this property at run time. */
  type?: T;
  isOptional: boolean;
  /** Whether the argument is only offered if the server may write results to a folder. */
  needsFolder?: boolean;
}

export type ToolFields = Readonly<Record<string, Field>>;

export type Arguments<F extends ToolFields> = {
  [Name in keyof F]: F[Name] extends Field<infer T> ? T : never;
};

const MOST_IDS = 100;

function defineField<T>(
  json: JsonObject,
  must: string,
  fits: (value: unknown) => boolean,
): Field<T | undefined> {
  return { json, must: `must be ${must}`, fits, isOptional: true };
}

/** Functions that define an argument of each kind. It is optional, unless it is passed through `required`. */
export const field = {
  text: (description: string) =>
    defineField<string>(
      { type: "string", pattern: "\\S", description },
      "a text that is not blank",
      (value) => typeof value === "string" && /\S/.test(value),
    ),
  /** Defines a path in the folder to which the server may write. */
  path: (description: string): Field<string | undefined> => ({
    ...defineField<string>(
      { type: "string", description },
      "a path, without control characters",
      (value) => typeof value === "string" && /^\P{Cc}+$/u.test(value),
    ),
    needsFolder: true,
  }),
  flag: (description: string) =>
    defineField<boolean>(
      { type: "boolean", description },
      "true or false",
      (value) => typeof value === "boolean",
    ),
  object: (description: string) =>
    defineField<Record<string, unknown>>({ type: "object", description }, "an object", isObject),
  /** Defines a number between inclusive bounds, an integer by default. */
  number: (description: string, least: number, most: number, { isWhole = true } = {}) =>
    defineField<number>(
      { type: isWhole ? "integer" : "number", minimum: least, maximum: most, description },
      `a ${isWhole ? "whole " : ""}number from ${least} to ${most}`,
      (value) =>
        typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isInteger(value)),
    ),
  texts: (description: string) =>
    defineField<string[]>(
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_IDS, description },
      `a list of 1 to ${MOST_IDS} ids`,
      (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= MOST_IDS &&
        value.every((item) => typeof item === "string"),
    ),
  required: <T>(field: Field<T | undefined>): Field<T> => ({ ...field, isOptional: false }) as Field<T>,
};

/** Builds the JSON Schema of an object. It allows no other members, so that a misspelled name is an error. */
export function buildInputSchema(fields: ToolFields, hasFolder: boolean) {
  const entries = Object.entries(fields).filter(([, { needsFolder }]) => hasFolder || !needsFolder);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object" as const,
    properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Describes each invalid, missing or unknown argument in a clause. */
export function listArgumentProblems(fields: ToolFields, given: Readonly<Record<string, unknown>>): string[] {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
  return [
    ...Object.entries(fields).flatMap(([name, { must, fits, isOptional }]) => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (value === undefined) return isOptional ? [] : [`${name} is missing, it ${must}`];
      return fits(value) ? [] : [`${name} ${must}`];
    }),
    ...unknown.map(
      (name) => `${JSON.stringify(name)} is not one of its arguments (${Object.keys(fields).join(", ")})`,
    ),
  ];
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** The JSON Schema of a tool's result, which may have further members. */
export type OutputSchema = { type: "object"; properties: JsonObject };

export const ERROR = { type: "object" };

export const shape = {
  text: { type: "string" },
  textOrNull: { type: ["string", "null"] },
  count: { type: "integer" },
  countOrNull: { type: ["integer", "null"] },
  flag: { type: "boolean" },
  /**
   * Builds the schema of an object. No member is required: clients of revision 2025-11-25 check even the content of an error
   * against the output schema, and a model pays for each word of tools/list.
   */
  object: (properties: JsonObject): OutputSchema => ({ type: "object", properties }),
  array: (items: JsonObject): JsonObject => ({ type: "array", items }),
};

/** The property of a result with the state of each requested id, in the order of the request. */
export const STATES = {
  requests: shape.array(
    shape.object({ request_id: shape.text, status: shape.textOrNull, final: shape.flag, error: ERROR }),
  ),
};

const REFUSED: Record<CreateRefusedError["kind"], string> = {
  "no-history":
    "Without a history a repeated call would create a second request. The user may run: research config unset history (or unset RESEARCH_NO_HISTORY).",
  "used-up": "The user started this server with --max-creates.",
};

/** Describes an error for an agent, with a hint on what the user has to do. */
export function describeToolFailure(error: unknown): Failure {
  if (error instanceof CreateRefusedError)
    return {
      ...{ code: "NOT_ALLOWED", message: error.message, exit_code: EXIT_CODES.NOT_ALLOWED },
      hint: REFUSED[error.kind],
    };
  const failure = describeFailure(error);
  if (error instanceof QuotaExceededError)
    return { ...failure, hint: "Nothing was sent. Call again after retry_after seconds." };
  if (error instanceof CodedError && (error.code === "NOT_CONFIGURED" || error.code === "NOT_AUTHENTICATED"))
    return { ...failure, hint: "Ask the user to run in a terminal: research login" };
  return failure;
}
