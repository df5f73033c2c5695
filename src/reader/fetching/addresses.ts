import { BlockList, isIP } from "node:net";
import type { Network } from "./page-fetcher.js";

/**
 * Registered as not globally reachable, or as a way around to such an address: IANA's special-purpose registry for IPv4;
 * of IPv6 protocol assignments with Teredo, documentation, 6to4, and the second range for documentation.
 * 168.63.129.16 is public by the registry; in Azure it is the service of the machine.
 */
const notPublic = listOf(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 " +
    "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
);
/** The only range of IPv6 with global unicast addresses: mapped ones, NAT64, local ones and multicast are outside. */
const global6 = listOf("2000::/3");

/** Whether an IP address, as a resolver gives it, is one of the public internet. Anything that is no IP address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 6) return global6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
  return isIP(address) === 4 && !notPublic.check(address);
}

/** What `--allow-private` allows: this machine and private networks, and of those no service of a cloud's machines. */
const onPrivate = listOf(
  "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7",
);
const ofMachine = listOf("100.100.100.200/32 fd00:ec2::/32");

/** The public internet on the ports of the web. */
export const checkPublicWeb: Network["accessTo"] = (address, port) =>
  isPublicAddress(address) && (port === 80 || port === 443) ? "public" : undefined;

/** As `checkPublicWeb`, and the hosts in `named` on any port where they have a private address; no redirect leads there. */
export function allowNamedPrivate(named: ReadonlySet<string>): Network["accessTo"] {
  return (address, port, asked) => {
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const isPrivate = onPrivate.check(address, family) && !ofMachine.check(address, family);
    const isNamed = asked !== undefined && named.has(asked) && !/^::ffff:/i.test(address);
    return checkPublicWeb(address, port, asked) ?? (isNamed && isPrivate ? "private" : undefined);
  };
}

/** Domains, each with what is below it: only these, and not those. */
export interface DomainLimits {
  domains: readonly string[];
  notDomains: readonly string[];
}

/** Why no request may go to a host by these limits, as a phrase. */
export function explainOutside({ domains, notDomains }: DomainLimits, host: string): string | undefined {
  const isIn = (list: readonly string[]) =>
    list.some((domain) => host === domain || host.endsWith(`.${domain}`));
  if (isIn(notDomains)) return "--not-domains names it";
  return domains.length > 0 && !isIn(domains) ? "--domains does not name it" : undefined;
}

function listOf(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
