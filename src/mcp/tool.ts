import type { Data } from "../protocol/conversation.js";
import type { Arguments, Fields } from "./fields.js";
import type { OutputSchema } from "./output-schema.js";
import type { ToolSession } from "./session.js";

/** One call of a tool. */
export interface ToolCall {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Reports progress; undefined if the client did not ask for it. */
  readonly progress: ((done: number, total: number, message: string) => Promise<void>) | undefined;
}

/** What a tool gives. Without a `text`, the text is the JSON of the content. */
export interface ToolReply {
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
  annotations(session: ToolSession): Annotations;
  /** Whether `--read-only` leaves it out. */
  readonly changes: boolean;
  /** Whether it works without a base URL and a key. */
  readonly isLocal: boolean;
  call(session: ToolSession, given: Record<string, unknown>, call: ToolCall): Promise<ToolReply> | ToolReply;
}

interface ToolDefinition<F extends Fields>
  extends Omit<Tool, "fields" | "call" | "changes" | "isLocal" | "annotations"> {
  fields: F;
  changes?: boolean;
  isLocal?: boolean;
  annotations: Annotations | ((session: ToolSession) => Annotations);
  call(session: ToolSession, given: Arguments<F>, call: ToolCall): Promise<ToolReply> | ToolReply;
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
