import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { classifyLoginError } from "../../../app/describe-failure.js";
import type { ProfileAccount } from "../../../app/profile-account.js";
import { readQuota } from "../../../app/read-quota.js";
import {
  buildLoginCommand,
  maskKey,
  requireBaseUrl,
  requireConnection,
} from "../../../app/resolve-settings.js";
import type { ResearchError } from "../../../client/calls/errors.js";
import { requireSendableKey, ServiceSession } from "../../../client/calls/service-session.js";
import { UNKNOWN } from "../../../client/store/history/history-records.js";
import { getErrorCode, readIfExists } from "../../../core/files/file-access.js";
import { describeSystemError } from "../../../core/files/local-error.js";
import { chooseProxy, findUnusedProxy, isLoopback } from "../../../core/http/base-url-and-proxy.js";
import { quoteShellWord } from "../../../core/text/format-text.js";
import { formatDuration, formatIsoDate } from "../../../core/text/time-format.js";
import type { Context } from "../../command-context.js";
import { locateScript, SCRIPTS, SHELLS } from "../../completion/scripts.js";
import type { Host } from "../../terminal/host.js";

export interface Finding {
  status: "ok" | "warn" | "fail" | "skipped";
  message: string;
  /** The command that fixes the problem, or another instruction. */
  fix?: string | undefined;
  /** The exit code of a command with this problem; only for a failed check. */
  exitCode?: number | undefined;
}

/** A check of `doctor`. `needs`: the ids of earlier checks on which it depends. */
export interface DoctorCheck {
  id: string;
  needs?: readonly string[];
  network?: boolean;
  /** What to do about an error that has no hint of its own. */
  fix?: string;
  run(): Finding | Promise<Finding>;
}

const createOk = (message: string): Finding => ({ status: "ok", message });
const warn = (message: string, fix: string): Finding => ({ status: "warn", message, fix });
const fail = (exitCode: number, message: string, fix: string): Finding => ({
  ...{ status: "fail", message, fix, exitCode },
});

const SET_BASE_URL = "research config set base-url URL";

export function listChecks(ctx: Context): { checks: readonly DoctorCheck[]; close: () => Promise<void> } {
  const { host } = ctx;
  const account = ctx.reopen({ isInspected: true });
  const { ask, close } = createProbe(ctx, account);
  const requireUrl = () => requireBaseUrl(account.settings);
  const chooseProxyUrl = () => chooseProxy(requireUrl(), host.env)?.url;
  const [site, online] = [["base-url", "proxy"], { network: true }];
  const checks: DoctorCheck[] = [
    { id: "node", run: () => createOk(`Node.js ${process.version}`) },
    { id: "version", run: () => checkPlatform(host) },
    { id: "settings", fix: "research help environment", run: () => checkSettings(account) },
    { id: "history", needs: ["settings"], run: () => checkHistory(account) },
    { id: "unknown-outcomes", needs: ["history"], run: () => checkUnknownOutcomes(account) },
    { id: "base-url", needs: ["settings"], fix: SET_BASE_URL, run: () => checkBaseUrl(account) },
    { id: "key", needs: ["base-url"], fix: "research login", run: () => checkKey(account) },
    { id: "proxy", needs: ["base-url"], run: () => checkProxy(chooseProxyUrl(), requireUrl(), host.env) },
    { id: "dns", needs: site, ...online, run: () => checkDns((chooseProxyUrl() ?? requireUrl()).hostname) },
    {
      id: "tls",
      needs: ["dns"],
      ...online,
      run: async () => checkTls(await ask(), requireUrl(), chooseProxyUrl()),
    },
    { id: "clock", needs: ["tls"], ...online, run: async () => checkClock(await ask(), host) },
    { id: "auth", needs: ["key", "tls"], ...online, run: async () => checkAuth(await ask(), account) },
    { id: "quota", needs: ["history", "base-url", "key"], run: () => checkQuota(account) },
    { id: "completion", run: () => checkCompletion(host) },
  ];
  return { checks, close };
}

/** The service's answer to the test request of the login. */
interface ProbeAnswer {
  /** What the answer means for the key. */
  verdict: ReturnType<typeof classifyLoginError>;
  error: ResearchError | undefined;
  /** The `Date` header of the answer, in epoch milliseconds; undefined if the answer has none. */
  date: number | undefined;
}

/** Creates a function that sends one test request for all checks, without retries. */
function createProbe({ host, signal }: Context, account: ProfileAccount) {
  let session: ServiceSession | undefined;
  let answer: Promise<ProbeAnswer> | undefined;
  const ask = async (): Promise<ProbeAnswer> => {
    const { settings, clientOptions, dialect, provider } = account;
    let date: number | undefined;
    let apiKey = "none";
    try {
      apiKey = requireUsableKey(account);
    } catch {
      // Test the connection nevertheless; the check of the key reports its problem.
    }
    host.beforeRequests?.();
    session = new ServiceSession({
      ...clientOptions,
      ...{ baseUrl: requireBaseUrl(settings).href, apiKey, dialect },
      insecureHttp: true,
      onEvent: (event) => {
        if (event.kind === "exchange") date = Date.parse(event.date ?? "") || undefined;
      },
    });
    const result = await session.call("status", (await session.loadDialect()).probeId, { signal });
    signal.throwIfAborted();
    const error = result.kind === "data" ? undefined : result.error;
    const verdict = error ? classifyLoginError(error, provider !== undefined) : "valid";
    return { verdict, error, date };
  };
  const askOnce = () => {
    answer ??= ask();
    return answer;
  };
  return { ask: askOnce, close: async () => session?.close() };
}

function requireUsableKey({ settings }: ProfileAccount): string {
  const { apiKey } = requireConnection(settings);
  requireSendableKey(apiKey);
  return apiKey;
}

function checkPlatform({ version, platform }: Host): Finding {
  if (platform !== "win32") return createOk(`research ${version}`);
  return warn(`research ${version}, which is not tested on Windows`, "run it in WSL: wsl --install");
}

function checkSettings(account: ProfileAccount): Finding {
  const { path } = account.store;
  const problem = path === undefined ? NO_SETTINGS_FOLDER : findPathProblem("settings", path, false);
  if (problem?.status === "fail") return problem;
  const { profile } = account.settings;
  return problem ?? createOk(`profile ${profile.value} (${profile.source}) in ${path}`);
}

const NO_SETTINGS_FOLDER = warn(
  "no folder for settings",
  "set HOME or RESEARCH_CONFIG_DIR to an absolute path",
);

function checkHistory({ history, folders: { state: folder }, settings }: ProfileAccount): Finding {
  if (settings.history.value === "off") return createOk("the history is off");
  if (!history || folder === undefined)
    return fail(12, "no folder for the history", "set HOME or RESEARCH_STATE_DIR to an absolute path");
  const problem = findPathProblem("history", join(folder, "history.jsonl"), true);
  if (problem) return problem;
  const isEmpty = history.list({ limit: 1 }).length === 0;
  const message = `${isEmpty ? "empty" : "usable"}, in ${folder}`;
  if (history.skipped === 0) return createOk(message);
  return warn(`${message}; records that could not be read were skipped`, "research list");
}

const MOST_UNKNOWN = 1_000;

function checkUnknownOutcomes({ history }: ProfileAccount): Finding {
  const isUnknown = ({ status }: { status: string }) => status === UNKNOWN;
  const names = (history?.list({ limit: MOST_UNKNOWN, accepts: isUnknown }) ?? []).map(
    ({ local_id }) => local_id,
  );
  if (names.length === 0) return createOk("none");
  return warn(
    `${names.length} unknown: ${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`,
    `research resolve ${names[0]} --request-id ID, or --not-created`,
  );
}

/** Returns a failure (12) if a path cannot be used, or a warning if others can read it; otherwise undefined. `written`: it must be writable. */
function findPathProblem(what: string, file: string, written: boolean): Finding | undefined {
  const folder = dirname(file);
  try {
    if (written) {
      const existing = findNearestExisting(folder);
      fs.accessSync(existing, fs.constants.W_OK);
      if (!fs.statSync(existing).isDirectory())
        return buildUnusablePath(what, `${existing} is not a folder`, folder);
      if (fs.statfsSync(existing).bavail === 0) return buildUnusablePath(what, "the disk is full", folder);
    }
    if (!fs.existsSync(file)) return undefined;
    if (!fs.statSync(file).isFile()) return buildUnusablePath(what, `${file} is not a file`, file);
    fs.accessSync(file, fs.constants.R_OK | (written ? fs.constants.W_OK : 0));
    const open = [
      ...(readFileMode(file) & 0o077 ? [`chmod 600 ${quoteShellWord(file)}`] : []),
      ...(readFileMode(folder) & 0o077 ? [`chmod 700 ${quoteShellWord(folder)}`] : []),
    ];
    if (open.length === 0) return undefined;
    return warn(`others can read the ${what} in ${folder}`, open.join(" && "));
  } catch (error) {
    return buildUnusablePath(
      what,
      describeSystemError(error),
      getErrorCode(error) === "EACCES" ? file : folder,
    );
  }
}

function buildUnusablePath(what: string, why: string, path: string): Finding {
  const fix = why.includes("full")
    ? `df -h ${quoteShellWord(path)} shows the disk; make room on it`
    : `ls -ld ${quoteShellWord(path)} shows who may use it; correct that, or name another folder`;
  return fail(12, `the ${what} in ${path} cannot be used: ${why}`, fix);
}

function findNearestExisting(path: string): string {
  return fs.existsSync(path) || dirname(path) === path ? path : findNearestExisting(dirname(path));
}

function readFileMode(path: string): number {
  return fs.statSync(path).mode & 0o777;
}

function checkBaseUrl({ settings }: ProfileAccount): Finding {
  return createOk(`${requireBaseUrl(settings).href} (${settings.baseUrl?.source ?? ""})`);
}

function checkKey(account: ProfileAccount): Finding {
  return createOk(`${maskKey(requireUsableKey(account))} (${account.settings.apiKey?.source})`);
}

function checkProxy(url: URL | undefined, base: URL, env: Host["env"]): Finding {
  const [unused, instead] = findUnusedProxy(base, env) ?? [];
  if (unused) return warn(`none: ${unused} is not used`, `set ${instead} to an http:// proxy`);
  return createOk(url ? `through ${url.origin}` : "none");
}

async function checkDns(host: string): Promise<Finding> {
  if (isLoopback(host)) return createOk(`${host} is this machine`);
  const name = host.replace(/^\[|\]$/g, "");
  const { lookup } = process.getBuiltinModule("node:dns").promises;
  try {
    return createOk(`${name} is ${(await lookup(name)).address}`);
  } catch (error) {
    const message = `the name ${name} could not be resolved (${getErrorCode(error) ?? "unknown"})`;
    return fail(9, message, `${SET_BASE_URL}, if the name is wrong`);
  }
}

function checkTls({ verdict, error }: ProbeAnswer, base: URL, proxy: URL | undefined): Finding {
  const isTls = base.protocol === "https:";
  if (verdict !== "no-answer")
    return createOk(isTls ? "the certificate is trusted" : "not used: the base URL is plain http");
  const message = error?.message ?? "";
  const variable = isTls ? "HTTPS_PROXY" : "HTTP_PROXY";
  const fix = /certificate/.test(message)
    ? "set NODE_EXTRA_CA_CERTS to a file with the certificate that signed it"
    : proxy
      ? `set ${variable} to the right proxy, or to nothing`
      : `${SET_BASE_URL}, if the address is wrong`;
  return fail(9, message, fix);
}

function checkAuth({ verdict, error }: ProbeAnswer, { settings }: ProfileAccount): Finding {
  const message = error?.message ?? "";
  if (verdict === "valid") return createOk("the service accepts the key");
  if (verdict === "refused")
    return fail(4, `the service refuses the key: ${message}`, buildLoginCommand(settings));
  return fail(9, `this does not look like the research service: ${message}`, error?.hint ?? SET_BASE_URL);
}

/** Tolerated error of this machine's clock, in milliseconds. A larger error makes times and `Retry-After` dates wrong. */
const CLOCK_LIMIT_MS = 60_000;

function checkClock({ date }: ProbeAnswer, { clock, platform }: Host): Finding {
  if (date === undefined) return createOk("the service sent no date");
  const ahead = clock.now() - date;
  if (Math.abs(ahead) <= CLOCK_LIMIT_MS) return createOk("the same as the service's");
  const off = `${formatDuration(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  return warn(`this clock is ${off}`, platform === "linux" ? "timedatectl set-ntp true" : "set the clock");
}

function checkQuota(account: ProfileAccount): Finding {
  if (!account.history) return { status: "skipped", message: "the history is off" };
  const { used, limit, next_slot_at } = readQuota(account, {});
  if (limit === null) return createOk(`${used} creates in the last hour; no limit is set`);
  const message = `${used} of ${limit} creates used in the last hour`;
  if (used < limit) return createOk(message);
  const next = `; the next one is allowed at ${formatIsoDate(Date.parse(next_slot_at ?? ""))}`;
  return warn(message + next, "research create --wait-for-quota");
}

function checkCompletion({ env }: Host): Finding {
  const name = basename(env.SHELL ?? "");
  const shell = SHELLS.find((candidate) => candidate === name);
  if (!shell) return { status: "skipped", message: "there is no completion script for the shell in SHELL" };
  const place = locateScript(shell, env);
  const installed = place && readIfExists(place.path);
  if (installed === SCRIPTS[shell]) return createOk(`installed for ${shell}`);
  const state = installed === undefined ? "not installed" : "out of date";
  return warn(`${state} for ${shell}`, `research completion ${shell} --install`);
}
