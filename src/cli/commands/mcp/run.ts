import { resolve } from "node:path";
import { serve } from "../../../mcp/server.js";
import { ToolSession } from "../../../mcp/session.js";
import type { Context } from "../../context.js";
import { clientSettings } from "./client-settings.js";
import type { McpOptions } from "./options.js";
import { stdoutStream } from "./stdout-stream.js";

/** Serves the Model Context Protocol until stdin ends. */
export async function mcp(ctx: Context, options: McpOptions): Promise<number> {
  const { host, reporter, signal, flags } = ctx;
  if (options.printConfig) {
    await reporter.result(clientSettings(flags, options, host.program));
    return 0;
  }
  const { allowDir, readOnly = false } = options;
  const allowedFolder = allowDir === undefined ? undefined : resolve(allowDir);
  const streams = { stdin: host.stdin.stream, stdout: stdoutStream(host.stdout) };
  await serve(
    new ToolSession(ctx, { ...options, allowedFolder }),
    { version: host.version, readOnly, ...streams },
    signal,
  );
  signal.throwIfAborted();
  return 0;
}
