import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen.js";

/** A request on its way: it was sent, and has not gone on; it was answered, and that has not gone on; the answer has. */
export type Moment = "sent" | "answered" | "read";
/** A request of the interface at a moment, the `nth` of its kind since the wire was made. */
export type Passing = { operation: string; moment: Moment; nth: number };

const LINES: readonly [string, RegExp][] = [
  ["create", /^POST \S*\/conversations HTTP/],
  ["stop", /^POST \S*\/stop HTTP/],
  ["status", /^GET \S*\/status HTTP/],
  ["output", /^GET \S*\/output HTTP/],
];

/**
 * A TCP proxy to a port of this machine that holds each request and each answer until `at` has resolved: what it does
 * meanwhile happens at exactly that moment.
 */
export async function heldWire(port: number, at: (passing: Passing) => Promise<void>): Promise<string> {
  const counts = new Map<string, number>();
  const server = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    let asked: { operation: string; nth: number } | undefined;
    const pass = async (from: Socket, to: Socket, piece: Buffer) => {
      const isRequest = from === client;
      const operation = isRequest && LINES.find(([, line]) => line.test(piece.toString("latin1")))?.[0];
      if (operation) {
        const nth = (counts.get(operation) ?? 0) + 1;
        counts.set(operation, nth);
        asked = { operation, nth };
      }
      from.pause();
      if (asked && (operation || !isRequest)) await at({ ...asked, moment: isRequest ? "sent" : "answered" });
      from.resume();
      if (to.destroyed || from.destroyed) return;
      to.write(piece);
      if (isRequest || !asked) return;
      const read = asked;
      asked = undefined;
      await at({ ...read, moment: "read" });
    };
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      from.on("data", (piece: Buffer) => void pass(from, to, piece));
      from.on("error", () => {}).on("close", () => to.destroy());
    }
  });
  return `http://127.0.0.1:${await listen(server)}`;
}
