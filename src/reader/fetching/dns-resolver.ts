import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { type Clock, onAbort, runWithDeadline } from "../../core/clock.js";

/** The time limit for one name, ms, and for one query to one of the system's servers. */
const RESOLVE_MS = 10_000;
const QUESTION = { timeout: 2_500, tries: 2 };

export interface ResolverOptions {
  clock: Pick<Clock, "sleep" | "monotonic">;
  /** The file with this machine's own names, which take precedence over the DNS (hosts(5)). */
  hosts?: string;
  /** Called with each name for which a server returned an address. */
  onAnswer?: (name: string) => void;
  /** Addresses of DNS servers, with a port if it is not 53. Default: the system's. */
  servers?: readonly string[];
}

/**
 * Creates a function that resolves a name to its addresses, IPv4 first. It does not use the system's resolver, which
 * blocks one of libuv's few threads without a limit, so that a few silent names would stop all others. An abort closes
 * its sockets. It rejects with `signal.reason`, and with the code ENOTFOUND only if the DNS answers both the A and the
 * AAAA query that the name does not exist.
 */
export function createDnsResolver({ clock, hosts = "/etc/hosts", servers, onAnswer }: ResolverOptions) {
  return async (name: string, signal: AbortSignal): Promise<string[]> => {
    const host = name.toLowerCase().replace(/\.$/, "");
    // RFC 6761 §6.3
    if (/(?:^|\.)localhost$/.test(host)) return ["127.0.0.1", "::1"];
    const hostsAddresses = findInHostsFile(await readFile(hosts, "utf8").catch(() => ""), host);
    if (hostsAddresses.length > 0) return hostsAddresses;
    const late = new Error(`no answer in ${RESOLVE_MS / 1_000} s`);
    return runWithDeadline(clock, RESOLVE_MS, signal, late, async (until) => {
      const resolver = new Resolver(QUESTION);
      if (servers) resolver.setServers(servers);
      const release = onAbort(until, () => resolver.cancel());
      const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      release();
      until.throwIfAborted();
      const addresses = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
      const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      if (addresses.length === 0) throw failures.find(({ code }) => code !== "ENOTFOUND") ?? failures[0];
      onAnswer?.(host);
      return addresses;
    });
  };
}

/** Finds the addresses of a name in the text of a hosts(5) file, IPv4 first. */
function findInHostsFile(text: string, host: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/));
  const addresses = lines.flatMap(([address = "", ...names]) => (names.includes(host) ? [address] : []));
  return addresses.filter((address) => isIP(address) !== 0).sort((a, b) => isIP(a) - isIP(b));
}
