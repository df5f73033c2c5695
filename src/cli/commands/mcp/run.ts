import { resolve } from "node:path";
import { Writable } from "node:stream";
import { serve } from "../../../mcp/server.js";
import { ToolSession } from "../../../mcp/session.js";
import type { Context } from "../../context.js";
import type { Sink } from "../../terminal/host.js";
import type { McpOptions } from "./client-settings.js";
import { clientSettings } from "./client-settings.js";

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

/** The program's stdout as a stream, for a library that writes to one. */
export function stdoutStream(stdout: Sink): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      stdout.write(chunk).then(() => done(), done);
    },
  });
}
