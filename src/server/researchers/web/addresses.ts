import { BlockList, isIP } from "node:net";

/**
 * Registered as not globally reachable, or as a way around to such an address: IANA's special-purpose registry for IPv4;
 * of IPv6 protocol assignments with Teredo, documentation, 6to4, and the second range for documentation.
 */
const notPublic = listOf(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
    "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 " +
    "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
);
/** The only range of IPv6 with global unicast addresses: mapped ones, NAT64, local ones and multicast are outside. */
const global6 = listOf("2000::/3");

/** Whether an IP address, as a resolver gives it, is one of the public internet. Anything that is no IP address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 6) return global6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
  return isIP(address) === 4 && !notPublic.check(address);
}

function listOf(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges.split(" ")) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
