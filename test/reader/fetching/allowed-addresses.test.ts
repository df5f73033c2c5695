import { expect, test } from "vitest";
import { allowNamedPrivate, isPublicAddress } from "../../../src/reader/fetching/allowed-addresses.js";

/** As a page or a search engine may write them: what the URL parser makes of the host is what is checked. */
test.each([
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0x7f.0.0.1",
  "127.0.0.1.",
  "１２７.0.0.1",
  "%31%32%37.0.0.1",
  "127。0。0。1",
  "0.0.0.0",
  "10.0.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "168.63.129.16",
  "100.64.0.1",
  "192.0.2.1",
  "198.51.100.7",
  "203.0.113.9",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "192.88.99.1",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:ffff:7f00:1]",
  "[::ffff:10.0.0.1]",
  "[::127.0.0.1]",
  "[64:ff9b::a00:1]",
  "[64:ff9b:1::10.0.0.1]",
  "[2002:7f00:1::]",
  "[2001:0:53aa:64c::1]",
  "[2001:db8::1]",
  "[3fff::1]",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "[fec0::1]",
  "[ff02::1]",
  "[100::1]",
])("%s is refused", (host) => {
  const { hostname } = new URL(`http://${host}/`);
  expect(isPublicAddress(hostname.replace(/^\[|\]$/g, ""))).toBe(false);
});

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "172.32.0.1",
  "100.128.0.1",
  "198.20.0.1",
  "[2606:4700:4700::1111]",
  "[2a00:1450:4001:81b::200e]",
  "[2001:200::1]",
])("%s is allowed", (host) => {
  expect(isPublicAddress(new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, ""))).toBe(true);
});

test.each(["", "localhost", "fe80::1%eth0", "1.1.1.1, 127.0.0.1", "::ffff:8.8.8.8"])(
  "%j is refused, whatever it is",
  (address) => {
    expect(isPublicAddress(address)).toBe(false);
  },
);

test.each([
  ["127.0.0.1", "private"],
  ["10.0.0.1", "private"],
  ["192.168.1.1", "private"],
  ["::1", "private"],
  ["fd12::1", "private"],
  ["169.254.169.254", undefined],
  ["168.63.129.16", undefined],
  ["100.100.100.200", undefined],
  ["fd00:ec2::254", undefined],
  ["::ffff:169.254.169.254", undefined],
  ["::ffff:127.0.0.1", undefined],
  ["0.0.0.0", undefined],
])("%s of a host that is named is %s with private addresses", (address, access) => {
  const accessTo = allowNamedPrivate(new Set(["wiki"]));
  expect(accessTo(address, 8080, "wiki")).toBe(access);
  expect(accessTo(address, 8080, "other")).toBeUndefined();
  expect(accessTo(address, 8080, undefined)).toBeUndefined();
});
