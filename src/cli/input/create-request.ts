import { type CreateBody, requestBody } from "../../protocol/conversation.js";
import { CREATE } from "../../protocol/endpoints.js";
import { safeJson } from "../../text/safe-text.js";
import { shellWord } from "../resume.js";
import type { Reporter } from "../terminal/reporter.js";
import type { Terminal } from "../terminal/terminal.js";
import { readPrompt } from "./prompt.js";
import { readGivenSchema } from "./schema.js";

export interface RequestOptions {
  promptFile?: string;
  schema?: string;
  structured?: boolean;
}

/** What a create sends, from an argument and flags, all of it checked. Throws UsageError or LocalError. */
export async function readRequest(
  { host, signal }: Pick<Terminal, "host" | "signal">,
  prompt: string | undefined,
  options: RequestOptions,
): Promise<CreateBody> {
  const { stdin } = host;
  const stdinTaken = options.schema === "-";
  const source = { argument: prompt, promptFile: options.promptFile, stdinTaken };
  const text = await readPrompt(source, stdin, signal);
  const schema = await readGivenSchema(options.schema, stdin, signal);
  return requestBody(text, schema, options.structured ?? false);
}

/** Shows what would be sent. As a command it works for every prompt: nothing in a here-document is expanded. */
export async function showRequest(reporter: Reporter, base: URL, body: CreateBody): Promise<void> {
  const url = base.origin + base.pathname.replace(/\/$/, "") + CREATE.path;
  const headers = { Authorization: "Bearer $RESEARCH_API_KEY", "Content-Type": "application/json" };
  if (reporter.json) return reporter.resultJson({ method: CREATE.method, url, headers, body });
  const flags = Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`);
  const command = [
    "curl -sS --globoff",
    `-X ${CREATE.method}`,
    shellWord(url),
    ...flags,
    "--data-binary @-",
  ].join(" ");
  await reporter.result(`${command} <<'RESEARCH_REQUEST'\n${safeJson(body)}\nRESEARCH_REQUEST\n`);
}
