import type { ProfileAccount } from "../../app/profile-account.js";
import { requireBaseUrl } from "../../app/resolve-settings.js";
import { addProviderDefaults, buildRequestBelow } from "../../client/dialects/providers.js";
import type { AccountRequest } from "../../client/workflows/account-fallback.js";
import { parseExact } from "../../core/json/exact-json.js";
import { type CreateBody, insertContextFiles } from "../../core/protocol/conversation.js";
import { quoteShellWord } from "../../core/text/format-text.js";
import { stringifySafe } from "../../core/text/safe-text.js";
import type { Terminal } from "../terminal/reporter.js";

export async function printDryRequests(
  { reporter }: Pick<Terminal, "reporter">,
  requests: readonly AccountRequest<ProfileAccount>[],
): Promise<number> {
  const shown: { json: object; text: string }[] = [];
  for (const { account, body } of requests) shown.push(await formatDryRequest(account, body));
  const named = shown.map(({ json }, index) => ({ profile: requests[index]?.account.profile, ...json }));
  await reporter.show(
    requests.length === 1 ? shown[0]?.json : named,
    shown.map(({ text }) => text).join("\n"),
  );
  return 0;
}

/** Builds the text of `--dry-run`. The curl command works for every prompt, because a quoted here-document expands nothing. */
async function formatDryRequest(account: ProfileAccount, body: CreateBody) {
  const { provider, settings } = account;
  const base = requireBaseUrl(settings);
  const dialect = await account.dialect();
  const request = dialect.create(insertContextFiles(addProviderDefaults(provider, body)));
  const {
    method,
    path,
    headers: ownHeaders,
    body: text = "",
  } = buildRequestBelow(base, dialect.name, request);
  const url = base.origin + path;
  const isOther = provider?.otherKeyVariable === settings.apiKey?.source;
  const ownVariable = (isOther && provider?.otherKeyVariable) || provider?.keyVariable;
  const variable = provider?.baseUrl === base.origin ? ownVariable : "RESEARCH_API_KEY";
  const [name, prefix] = dialect.keyHeader;
  const all = { [name]: `${prefix}$${variable}`, "content-type": "application/json", ...ownHeaders };
  const capitalizeHeader = (header: string) => header.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [capitalizeHeader(name), value]),
  );
  const json = parseExact(text);
  const flags = Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`);
  const words = ["curl -sS --globoff", `-X ${method}`, quoteShellWord(url), ...flags, "--data-binary @-"];
  const shown = `${words.join(" ")} <<'RESEARCH_REQUEST'\n${stringifySafe(json)}\nRESEARCH_REQUEST\n`;
  return { json: { method, url, headers, body: json }, text: shown };
}
