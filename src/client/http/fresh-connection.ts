import type { LookupFunction, Socket } from "node:net";
import { isLocalName } from "./address.js";

/** A peer that resets on accept does so within this time (ms); the create then provably never left. */
const SETTLE_MS = 15;
/** Timers of 1 ms that pass first: they read what came while the loop was busy. A slow one means a busy machine. */
const ROUNDS = 2;
const ROUNDS_WHEN_BUSY = 12;
/** Milliseconds that such a timer takes at most on a machine that is not busy. */
const QUIET_MS = 3;

/** A connection that is being opened. */
export interface FreshConnection {
  /** Hands its socket over once it has stayed open for SETTLE_MS. Rejects if it has not, and the second time. */
  ready(): Promise<Socket>;
  /** Ends it, unless it has been handed over. */
  destroy(): void;
}

/** Begins to open a connection to the origin of `url` at once. `timeout` is in milliseconds. */
export function openFreshConnection(url: URL, timeout: number): FreshConnection {
  const socket = open(url);
  let failure: Error | undefined;
  let isHandedOver = false;
  const fail = (cause?: unknown) => {
    failure ??=
      cause instanceof Error ? cause : new Error("the connection was closed as soon as it was open");
    socket.destroy();
  };
  const late = setTimeout(() => fail(new Error("the connection was not open in time")), timeout);
  const opened = url.protocol === "https:" ? "secureConnect" : "connect";
  const settled = new Promise<void>((resolve) => {
    socket.once("close", resolve).once(opened, () => {
      clearTimeout(late);
      setTimeout(resolve, SETTLE_MS);
    });
  });
  socket.on("error", fail).on("end", fail).on("close", fail);
  return {
    async ready() {
      await settled;
      let rounds = ROUNDS;
      for (let round = 0; round < rounds; round++) {
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (performance.now() - start > QUIET_MS) rounds = ROUNDS_WHEN_BUSY;
      }
      clearTimeout(late);
      if (failure) throw failure;
      if (isHandedOver) throw new Error("the connection has been used");
      isHandedOver = true;
      socket.off("error", fail).off("end", fail).off("close", fail);
      return socket;
    },
    destroy() {
      if (!isHandedOver) socket.destroy();
    },
  };
}

function open(url: URL): Socket {
  // Both are loaded for this only: most commands make no connection of their own.
  const net = process.getBuiltinModule("node:net");
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const to = { ...connectOptions(url), host, port: Number(url.port || (isTls ? 443 : 80)) };
  if (!isTls) return net.connect(to);
  const { connect } = process.getBuiltinModule("node:tls");
  const servername = net.isIP(host) ? {} : { servername: host };
  return connect({ ...to, ALPNProtocols: ["http/1.1"], ...servername });
}

/** What connections to a host are opened with, beside its address. `hostname` as `URL` gives it. */
export function connectOptions({ hostname }: Pick<URL, "hostname">): { lookup?: LookupFunction } {
  return isLocalName(hostname) ? { lookup: loopbackLookup } : {};
}

/** RFC 6761 §6.3: a resolver with another address for `x.localhost` would get the key over plain http. */
const loopbackLookup: LookupFunction = (_hostname, options, callback) => {
  const addresses = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  if (options.all) callback(null, addresses);
  else callback(null, "127.0.0.1", 4);
};
