import { BlockList, isIP } from "node:net";
import type { Network } from "./page-fetcher.js";

/**
 * Address ranges that are not globally reachable, or that lead to such addresses. IPv4: IANA's special-purpose registry.
 * IPv6: protocol assignments with Teredo, documentation, 6to4, and the second documentation range. The registry lists
 * 168.63.129.16 as public, but in Azure it is a service of the platform.
 */
const notPublic = buildBlockList(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 " +
    "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
);
/** The only range of global unicast IPv6 addresses; mapped, NAT64, local and multicast addresses are outside of it. */
const global6 = buildBlockList("2000::/3");

/** Returns whether an IP address from a resolver is on the public internet; false for text that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 6) return global6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
  return isIP(address) === 4 && !notPublic.check(address);
}

/** The addresses that `--allow-private` allows: this machine and private networks, except the metadata services of clouds. */
const onPrivate = buildBlockList(
  "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7",
);
const ofMachine = buildBlockList("100.100.100.200/32 fd00:ec2::/32");

/** Allows connections to the public internet on ports 80 and 443. */
export const checkPublicWeb: Network["accessTo"] = (address, port) =>
  isPublicAddress(address) && (port === 80 || port === 443) ? "public" : undefined;

/** Allows what `checkPublicWeb` allows, and any port of private addresses if the user named the host and no redirect leads there. */
export function allowNamedPrivate(named: ReadonlySet<string>): Network["accessTo"] {
  return (address, port, asked) => {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const isPrivate = onPrivate.check(address, family) && !ofMachine.check(address, family);
    const isNamed = asked !== undefined && named.has(asked) && !/^::ffff:/i.test(address);
    return checkPublicWeb(address, port, asked) ?? (isNamed && isPrivate ? "private" : undefined);
  };
}

/** Domains, each including its subdomains, to allow or to exclude. */
export interface DomainLimits {
  domains: readonly string[];
  notDomains: readonly string[];
}

/** Returns why these limits exclude a host, as a phrase; undefined if they allow the host. */
export function explainOutsideLimits(
  { domains, notDomains }: DomainLimits,
  host: string,
): string | undefined {
  const isIn = (list: readonly string[]) =>
    list.some((domain) => host === domain || host.endsWith(`.${domain}`));
  if (isIn(notDomains)) return "--not-domains names it";
  return domains.length > 0 && !isIn(domains) ? "--domains does not name it" : undefined;
}

function buildBlockList(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
