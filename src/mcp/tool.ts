import type { Clock } from "../clock.js";
import type { Data } from "../protocol/data.js";
import type { History } from "../store/history/history.js";
import type { CreateOnce } from "../workflows/create-once.js";
import type { Ports } from "../workflows/ports.js";
import type { Result } from "../workflows/results.js";
import type { Arguments, Fields } from "./fields.js";
import type { OutputSchema } from "./output-schema.js";

/** What stands in a result beside `isError`: the error object of the command line's JSON mode. */
export type ErrorObject = { code: string; message: string; exit_code: number };

/** What the tools work with, for as long as the server lives. */
export interface Session {
  /** The settings in force. Throws the error that says what is missing. */
  ports(): Ports;
  /** What this machine created; undefined if nothing is recorded. Needs no settings. */
  history(): History | undefined;
  readonly clock: Clock;
  /** Creates per hour by flag or setting; undefined if it is not known. */
  limit(): number | undefined;
  readonly creates: CreateOnce;
  /** The folder that results may be written to, if there is one. */
  readonly allowedFolder: string | undefined;
  /** Writes a new file whole or not at all. Throws LocalError. */
  writeFile(path: string, text: string): void;
  /** The paths that will be written when their requests have ended, each with its request. */
  readonly awaited: Map<string, string>;
  /** A result as the command line prints it. */
  resultText(result: Result): string;
  errorObject(error: unknown): ErrorObject;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

/** One call of a tool. */
export interface Call {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Reports progress; undefined if the client did not ask for it. */
  readonly progress: ((done: number, total: number, message: string) => Promise<void>) | undefined;
}

/** What a tool gives. Without a `text`, the text is the JSON of the content. */
export interface Reply {
  content: Data;
  text?: string;
}

/** https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly fields: Fields;
  readonly outputSchema: OutputSchema;
  annotations(session: Session): Annotations;
  /** Whether `--read-only` leaves it out. */
  readonly changes: boolean;
  /** Whether it works without a base URL and a key. */
  readonly isLocal: boolean;
  call(session: Session, given: Record<string, unknown>, call: Call): Promise<Reply> | Reply;
}

interface ToolDefinition<F extends Fields>
  extends Omit<Tool, "fields" | "call" | "changes" | "isLocal" | "annotations"> {
  fields: F;
  changes?: boolean;
  isLocal?: boolean;
  annotations: Annotations | ((session: Session) => Annotations);
  call(session: Session, given: Arguments<F>, call: Call): Promise<Reply> | Reply;
}

/** A tool whose `call` gets the arguments that its fields describe. */
export function tool<F extends Fields>(definition: ToolDefinition<F>): Tool {
  const { annotations } = definition;
  return {
    changes: false,
    isLocal: false,
    ...definition,
    annotations: typeof annotations === "function" ? annotations : () => annotations,
    call: (session, given, call) => definition.call(session, given as Arguments<F>, call),
  };
}

/** The annotations of a tool that only asks the service. */
export const ASKS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** A call that cannot be done, for a reason that lies in the call or in how the server was started. */
export class ToolError extends Error {
  readonly code: "USAGE" | "NOT_ALLOWED" | "LOCAL_IO";

  constructor(code: ToolError["code"], message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}
