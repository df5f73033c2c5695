import { resolve } from "node:path";
import type { LimitOptions } from "../../../machine/machine.js";
import { shellWord } from "../../../text/phrases.js";
import type { Globals } from "../../context.js";
import { globalWords } from "../../resume.js";

/**
 * What common clients want in their settings to start this server as it was started, without a key in it. A client with
 * windows has not the PATH of a shell, so `program` holds absolute paths: of the runtime and of this program.
 */
export function clientSettings(
  flags: Globals,
  options: McpOptions,
  [command, script]: readonly [string, string],
): string {
  const args = [script, "mcp", ...serverFlags(options), ...globalWords(flags)];
  const line = [command, ...args].map(shellWord).join(" ");
  const entry = { command, args };
  const json = (value: object) => JSON.stringify(value, null, 2);
  return `# Claude Code, in a shell
claude mcp add research -- ${line}

# Claude Desktop, Cursor, Windsurf, Gemini CLI and others: in the JSON file of their settings (mcp.json, say)
${json({ mcpServers: { research: entry } })}

# VS Code: in .vscode/mcp.json
${json({ servers: { research: { type: "stdio", ...entry } } })}

# Codex: in ~/.codex/config.toml
[mcp_servers.research]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}

# The key is not in it: the server uses the settings of this machine (research login).
`;
}

function serverFlags({ tier, perHour, readOnly, maxCreates, allowDir }: McpOptions): string[] {
  return [
    ...(tier ? ["--tier", tier] : []),
    ...(perHour === undefined ? [] : ["--per-hour", String(perHour)]),
    ...(readOnly ? ["--read-only"] : []),
    ...(maxCreates === undefined ? [] : ["--max-creates", String(maxCreates)]),
    ...(allowDir === undefined ? [] : ["--allow-dir", resolve(allowDir)]),
  ];
}

/** The flags of `mcp`. */
export interface McpOptions extends LimitOptions {
  readOnly?: boolean;
  maxCreates?: number;
  allowDir?: string;
  printConfig?: boolean;
}
