import type { OwnKey } from "../../../server/keys/own-key.js";
import type { Context } from "../../context.js";
import type { ServeOptions } from "./options.js";

/** Says where the service is: the address on stdout, how to reach it on stderr. */
export async function announce(
  { reporter, host }: Context,
  baseUrl: string,
  key: OwnKey | undefined,
  options: ServeOptions,
): Promise<void> {
  const fresh = key?.fresh ? key.apiKey : undefined;
  if (reporter.json) {
    await reporter.resultJson({ base_url: baseUrl, pid: process.pid, ...(fresh && { api_key: fresh }) });
    return;
  }
  const isKept = key && options.data !== undefined && options.apiKeyFile === undefined;
  const keyFile = isKept && !host.env.RESEARCH_SERVE_API_KEY ? `${options.data}/api-key` : undefined;
  if (fresh) await reporter.say(`API key (shown once): ${fresh}`);
  else if (keyFile) await reporter.say(`the API key is in ${keyFile}`);
  if (host.stderr.isTTY) {
    const exported = [`export RESEARCH_BASE_URL=${baseUrl}`];
    if (fresh) exported.push(`export RESEARCH_API_KEY=${fresh}`);
    else if (keyFile) exported.push(`export RESEARCH_API_KEY_FILE=${quoted(keyFile)}`);
    await reporter.say(`In another terminal:\n\n  ${exported.join("\n  ")}\n`);
  }
  await reporter.result(`${baseUrl}\n`);
}

/** Says which link opens the page, if there is one. */
export async function announceUi({ reporter }: Context, link: string | undefined): Promise<void> {
  if (link === undefined) return;
  if (reporter.json) return reporter.notice("UI_LINK", link);
  await reporter.say(`The page, for one browser: ${link}`);
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
