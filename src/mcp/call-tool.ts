import { CodedError } from "../machine/errors.js";
import { safeJson } from "../text/safe-text.js";
import { toolFailure } from "./failure.js";
import { inputSchema, problemsOf } from "./fields.js";
import { orError } from "./output-schema.js";
import type { ToolSession } from "./session.js";
import type { Tool, ToolCall } from "./tool.js";
import { create } from "./tools/create.js";
import { list } from "./tools/list.js";
import { output } from "./tools/output.js";
import { quota } from "./tools/quota.js";
import { status } from "./tools/status.js";
import { stop } from "./tools/stop.js";
import { wait } from "./tools/wait.js";

const TOOLS: readonly Tool[] = [create, wait, status, stop, output, list, quota];

/** The result of a call, as the protocol has it. */
export type CallResult = {
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
};

/** The tools that are offered; with `readOnly`, those that create and stop nothing. */
export function offered(readOnly: boolean): Tool[] {
  return TOOLS.filter(({ changes }) => !(readOnly && changes));
}

/** A tool as `tools/list` has it. */
export function described(tool: Tool, session: ToolSession) {
  const { name, title, description } = tool;
  return {
    ...{ name, title, description },
    inputSchema: inputSchema(tool.fields, session.allowedFolder !== undefined),
    outputSchema: orError(tool.outputSchema),
    annotations: tool.annotations(session),
  };
}

/** Calls a tool. Every error is a result, so that the model sees it and can mend its call. */
export async function callTool(
  tool: Tool,
  session: ToolSession,
  given: Record<string, unknown>,
  call: ToolCall,
): Promise<CallResult> {
  try {
    const problems = problemsOf(tool.fields, given);
    if (problems.length > 0) throw new CodedError("USAGE", `invalid arguments: ${problems.join("; ")}`);
    // Missing settings are said before what is wrong with a prompt or a schema.
    if (!tool.isLocal) void session.ports().apiKey;
    const { content, text = safeJson(content) } = await tool.call(session, given, call);
    return { content: [{ type: "text", text }], structuredContent: content };
  } catch (error) {
    const content = { error: toolFailure(error) };
    return {
      content: [{ type: "text", text: safeJson(content) }],
      structuredContent: content,
      isError: true,
    };
  }
}
