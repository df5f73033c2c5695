import { isLoopback } from "../../../../client/http/address.js";
import { proxyFor } from "../../../../client/http/proxy-setting.js";
import { readKeyAnswer } from "../../../../machine/key-check.js";
import type { Machine } from "../../../../machine/machine.js";
import { requireBaseUrl } from "../../../../machine/settings.js";
import { formatDuration } from "../../../../text/duration.js";
import type { Host } from "../../../terminal/host.js";
import { type Check, type Finding, ok } from "../check.js";
import type { Probe } from "../probe.js";

/** A clock that is off by more makes times and `Retry-After` dates wrong, in milliseconds. */
const CLOCK_LIMIT_MS = 60_000;

const CLOCK_FIX: Partial<Record<NodeJS.Platform, string>> = {
  linux: "timedatectl set-ntp true",
  darwin: "sudo sntp -sS time.apple.com",
  win32: "w32tm /resync",
};

/** What the network and the service say. */
export function networkChecks(machine: Machine, probe: Probe, host: Host): Check[] {
  const baseUrl = () => requireBaseUrl(machine.settings);
  const isProvider = () => machine.provider !== undefined;
  return [
    {
      id: "dns",
      needs: ["base-url", "proxy"],
      network: true,
      run: async () => {
        const proxy = proxyFor(baseUrl(), host.env);
        const { hostname } = proxy?.url ?? baseUrl();
        if (isLoopback(hostname)) return ok(`${hostname} is this machine`, "this machine");
        return resolved(hostname.replace(/^\[|\]$/g, ""));
      },
    },
    {
      id: "tls",
      needs: ["dns"],
      network: true,
      run: async () => {
        const { result } = await probe.answered();
        if (result.kind === "fault" && readKeyAnswer(result.error, isProvider()) === "no-answer")
          return noAnswer(result.error.message, baseUrl(), proxyFor(baseUrl(), host.env)?.url);
        const isTls = baseUrl().protocol === "https:";
        const message = isTls ? "the certificate is trusted" : "not used: the base URL is plain http";
        return ok(message, message);
      },
    },
    {
      id: "clock",
      needs: ["tls"],
      network: true,
      run: async () => clockFinding((await probe.answered()).date, host),
    },
    {
      id: "auth",
      needs: ["key", "tls"],
      network: true,
      run: async () => {
        const { result } = await probe.answered();
        const answer = result.kind === "data" ? "valid" : readKeyAnswer(result.error, isProvider());
        if (answer === "valid") return ok("the service takes the key", "the service takes the key");
        const message = result.kind === "data" ? "" : result.error.message;
        if (answer === "refused")
          return {
            status: "fail",
            message: `the service refuses the key: ${message}`,
            publicMessage: "the service refuses the key",
            fix: "research login",
            exitCode: 4,
          };
        return {
          status: "fail",
          message: `this does not look like the research service: ${message}`,
          publicMessage: "the answer is not the service's",
          fix: "research config set base-url URL",
          exitCode: 9,
        };
      },
    },
  ];
}

async function resolved(hostname: string): Promise<Finding> {
  const { lookup } = process.getBuiltinModule("node:dns").promises;
  try {
    const { address } = await lookup(hostname);
    return ok(`${hostname} is ${address}`, "resolved");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return {
      status: "fail",
      message: `the name ${hostname} could not be resolved (${code})`,
      publicMessage: `the name could not be resolved (${code})`,
      fix: "research config set base-url URL, if the name is wrong",
      exitCode: 9,
    };
  }
}

function noAnswer(message: string, base: URL, proxy: URL | undefined): Finding {
  const isCertificate = /certificate|issuer|self.signed|altname/i.test(message);
  const throughProxy = proxy ? ` through the proxy ${proxy.origin}` : "";
  const proxyFix = `set ${base.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY"} to the right proxy, or to nothing`;
  return {
    status: "fail",
    message: `${base.origin} did not answer${throughProxy}: ${message}`,
    publicMessage: isCertificate ? "the certificate is not trusted" : "no answer",
    fix: isCertificate
      ? "set NODE_EXTRA_CA_CERTS to a file with the certificate that signed it"
      : proxy
        ? proxyFix
        : "research config set base-url URL, if the address is wrong",
    exitCode: 9,
  };
}

function clockFinding(date: number | undefined, { clock, platform }: Host): Finding {
  if (date === undefined) return ok("the service sends no date", "the service sends no date");
  const ahead = clock.now() - date;
  if (Math.abs(ahead) <= CLOCK_LIMIT_MS) return ok("as the service's", "as the service's");
  const message = `this clock is ${formatDuration(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  return { status: "warn", message, publicMessage: message, fix: CLOCK_FIX[platform] ?? "set the clock" };
}
