import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { createDnsResolver } from "../../../src/reader/fetching/dns-resolver.js";
import { folderWith } from "../../support/folder.js";
import { leftovers } from "../../support/leftovers.js";

const never = new AbortController().signal;
const A = 1;

/** A DNS server on this machine: a name's first label says what it answers (RFC 1035 §4.1). */
async function dnsServer(): Promise<{ servers: string[]; asked: Set<string> }> {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  socket.on("message", (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const label = query.subarray(13, 13 + (query[12] ?? 0)).toString();
    asked.add(label);
    if (label.startsWith("silent")) return;
    const isV4 = query.readUInt16BE(end - 4) === A;
    const isAnswered = label === "there" && isV4;
    const code = { missing: 3, broken: 2, v6broken: isV4 ? 3 : 2, v4broken: isV4 ? 2 : 3 }[label] ?? 0;
    const head = Buffer.from([0x81, 0x80 | code, 0, 1, 0, isAnswered ? 1 : 0, 0, 0, 0, 0]);
    const answer = isAnswered ? [0xc0, 12, 0, A, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7] : [];
    const parts = [query.subarray(0, 2), head, query.subarray(12, end), Buffer.from(answer)];
    socket.send(Buffer.concat(parts), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  leftovers.add(() => void socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

it.each([
  ["there.test", ["192.0.2.7"]],
  ["own.test", ["10.1.2.3", "fd00::1"]],
  ["OTHER.test.", ["10.1.2.3"]],
  ["localhost", ["127.0.0.1", "::1"]],
  ["a.localhost", ["127.0.0.1", "::1"]],
])("%s has its addresses from the machine's own names or the DNS", async (name, addresses) => {
  const { servers } = await dnsServer();
  const folder = folderWith({
    hosts: "# own\nfd00::1 own.test\n10.1.2.3\tother.test own.test # x\nno own.test\n",
  });
  const resolve = createDnsResolver({ clock: systemClock, hosts: join(folder, "hosts"), servers });
  expect(await resolve(name, never)).toEqual(addresses);
});

it.each([
  ["missing.test", "ENOTFOUND"],
  ["nothing.test", "ENODATA"],
  ["localhost.test", "ENODATA"],
  ["alocalhost", "ENODATA"],
  ["broken.test", "ESERVFAIL"],
  ["v4broken.test", "ESERVFAIL"],
  ["v6broken.test", "ESERVFAIL"],
])("%s fails with %s", async (name, code) => {
  const { servers } = await dnsServer();
  await expect(createDnsResolver({ clock: systemClock, servers })(name, never)).rejects.toMatchObject({
    code,
  });
});

it("silent names hold up no other one, not even the system's own function, and a stop ends their questions", async () => {
  const { servers, asked } = await dnsServer();
  const resolve = createDnsResolver({ clock: systemClock, servers });
  const [first, stop] = [new AbortController(), new AbortController()];
  const goesOn = resolve("silent-first.test", first.signal).catch(() => "over");
  const silent = Array.from({ length: 10 }, (_, i) => resolve(`silent-${i}.test`, stop.signal));
  const ended = Promise.allSettled(silent);
  while (asked.size < 11) await new Promise((resolve) => setImmediate(resolve));
  expect(await resolve("there.test", never)).toEqual(["192.0.2.7"]);
  expect((await lookup("localhost")).address).toBeDefined();
  const reason = new Error("stopped");
  stop.abort(reason);
  // They end before one does that was asked sooner and goes on.
  expect(await Promise.race([goesOn, ended])).toEqual(silent.map(() => ({ status: "rejected", reason })));
  first.abort();
});

it("a name that is silent for 10 s is given up, by another error than one of a name that does not exist", async () => {
  const { servers } = await dnsServer();
  let time = 0;
  const clock = {
    monotonic: () => time,
    sleep: async (ms: number) => {
      time += ms;
    },
  };
  const failed = createDnsResolver({ clock, servers })("silent.test", never);
  await expect(failed).rejects.toThrow("no answer in 10 s");
});
