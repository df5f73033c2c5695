import { quoteShellWord } from "../../../core/text/format-text.js";
import type { OwnKey } from "../../../server/keys/own-key.js";
import { formatLogLine, type Log } from "../../../server/monitoring/operator-log.js";
import type { Context } from "../../command-context.js";
import type { ServeOptions } from "./flags.js";

export type MessageWriter = ReturnType<typeof createMessageWriter>;

/** Prints the service's messages on stderr. They are JSON with `--log json`, even on a terminal. */
export function createMessageWriter({ host, flags, reporter }: Context, options: Pick<ServeOptions, "log">) {
  const isJson = reporter.json || options.log === "json";
  const write = (text: string) => host.stderr.write(`${text}\n`).catch(() => {});
  const log: Log = (message, facts) => {
    if (facts?.level === "debug" && !flags.verbose) return;
    if (facts?.progress !== undefined && options.log !== "json") return;
    void write(formatLogLine(isJson ? "json" : "text", host.clock.now(), message, facts));
  };
  const asLines = isJson && !reporter.json;
  const writeLine = (message: string) =>
    write(formatLogLine("json", host.clock.now(), message, { level: "info" }));
  return {
    log,
    say: (text: string) => (asLines ? writeLine(text) : reporter.say(text)),
    notice: (code: string, text: string) => (asLines ? writeLine(text) : reporter.writeNotice(code, text)),
  };
}

/** Prints the address of the service on stdout, and on stderr how to use the service. */
export async function announceStart(
  { reporter, host }: Context,
  { say }: MessageWriter,
  baseUrl: string,
  key: OwnKey | undefined,
  options: ServeOptions,
): Promise<void> {
  const fresh = key?.fresh ? key.apiKey : undefined;
  if (reporter.json) {
    await reporter.writeResultJson({ base_url: baseUrl, pid: process.pid, ...(fresh && { api_key: fresh }) });
    return;
  }
  const isKept = key && options.data !== undefined && options.apiKeyFile === undefined;
  const keyFile = isKept && !host.env.RESEARCH_SERVE_API_KEY ? `${options.data}/api-key` : undefined;
  if (fresh) await say(`API key (shown once): ${fresh}`);
  else if (keyFile) await say(`the API key is in ${keyFile}`);
  if (host.stderr.isTTY && options.log !== "json") {
    const exported = [`export RESEARCH_BASE_URL=${baseUrl}`];
    if (fresh) exported.push(`export RESEARCH_API_KEY=${fresh}`);
    else if (keyFile) exported.push(`export RESEARCH_API_KEY_FILE=${quoteShellWord(keyFile)}`);
    await reporter.say(`In another terminal:\n\n  ${exported.join("\n  ")}\n`);
  }
  await reporter.writeResult(`${baseUrl}\n`);
}
