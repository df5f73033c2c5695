import { resolve } from "node:path";
import { Writable } from "node:stream";
import type { LimitOptions } from "../../../app/profile-account.js";
import { quoteShellWord } from "../../../core/text/format-text.js";
import { serveMcp } from "../../../mcp/server.js";
import { ToolSession } from "../../../mcp/tool-session.js";
import {
  type Context,
  type GlobalFlags,
  listFlagArguments,
  listGlobalArguments,
} from "../../command-context.js";
import type { Sink } from "../../terminal/host.js";

export async function runMcp(ctx: Context, options: McpOptions): Promise<void> {
  const { host, reporter, signal, flags } = ctx;
  if (options.printConfig) {
    await reporter.writeResult(buildClientSettings(flags, options, host.program));
    return;
  }
  ctx.limitDay(options);
  if (host.stdin.isTTY)
    await reporter.say(
      "This command is started by an agent. `research mcp --print-config` prints the settings for the agent.",
    );
  const { allowDir, readOnly = false } = options;
  const allowedFolder = allowDir === undefined ? undefined : resolve(allowDir);
  const streams = { stdin: host.stdin.stream, stdout: createStdoutStream(host.stdout) };
  await serveMcp(
    new ToolSession(ctx, { ...options, allowedFolder }),
    { version: host.version, readOnly, ...streams },
    signal,
  );
  signal.throwIfAborted();
}

/** Wraps the program's stdout for a library that needs a stream. */
export function createStdoutStream(stdout: Sink): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      stdout.write(chunk).then(() => done(), done);
    },
  });
}

/** Formats the settings for common clients, without a key. The paths are absolute, because graphical clients do not have the PATH of a shell. */
export function buildClientSettings(
  flags: GlobalFlags,
  options: McpOptions,
  [command, script]: readonly [string, string],
): string {
  const { printConfig: _, allowDir, ...others } = options;
  const words = listFlagArguments({ ...others, allowDir: allowDir && resolve(allowDir) });
  const args = [script, "mcp", ...words, ...listGlobalArguments(flags)];
  const line = [command, ...args].map(quoteShellWord).join(" ");
  const entry = { command, args };
  const stringifyJson = (value: object) => JSON.stringify(value, null, 2);
  return `# Claude Code, in a shell
claude mcp add research -- ${line}

# Claude Desktop, Cursor, Windsurf, Gemini CLI, others: their settings in JSON
${stringifyJson({ mcpServers: { research: entry } })}

# VS Code: in .vscode/mcp.json
${stringifyJson({ servers: { research: { type: "stdio", ...entry } } })}

# Codex: in ~/.codex/config.toml
[mcp_servers.research]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}

# These settings contain no key: the server uses the key of \`research login\`.
`;
}

export interface McpOptions extends LimitOptions {
  perDay?: number;
  readOnly?: boolean;
  maxCreates?: number;
  allowDir?: string;
  printConfig?: boolean;
}
