import type { Socket } from "node:net";

/**
 * How long a fresh connection is watched before a create is spent on it. A peer that resets on accept does so
 * within this time, and the create then provably never left.
 */
const SETTLE_MS = 15;
/**
 * Turns of a millisecond that pass before it is handed over, whatever passed before: what came while the loop was
 * busy is read in them. One that takes longer says that the machine is busy, and a peer on it late as well.
 */
const TURNS = 2;
const TURNS_WHEN_BUSY = 12;
/** Milliseconds that a turn takes at most where nothing else wants the processor. */
const QUIET_MS = 3;

/** A connection on its way. */
export interface Dialled {
  /** Hands it over once it has stayed open for SETTLE_MS. Rejects where it has not, and the second time. */
  take(): Promise<Socket>;
  /** Ends it, unless it has been handed over. */
  destroy(): void;
}

/** Begins to open a connection to the origin of `url` at once. `timeout` is in milliseconds. */
export function dial(url: URL, timeout: number): Dialled {
  const socket = open(url);
  let failure: Error | undefined;
  let isTaken = false;
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
    async take() {
      await settled;
      let turns = TURNS;
      for (let turn = 0; turn < turns; turn++) {
        const start = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (performance.now() - start > QUIET_MS) turns = TURNS_WHEN_BUSY;
      }
      clearTimeout(late);
      if (failure) throw failure;
      if (isTaken) throw new Error("the connection has been used");
      isTaken = true;
      socket.off("error", fail).off("end", fail).off("close", fail);
      return socket;
    },
    destroy() {
      if (!isTaken) socket.destroy();
    },
  };
}

function open({ protocol, hostname, port }: URL): Socket {
  // Both are loaded for this only: most commands make no connection of their own.
  const net = process.getBuiltinModule("node:net");
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "https:") return net.connect({ host, port: Number(port || 80) });
  const { connect } = process.getBuiltinModule("node:tls");
  const servername = net.isIP(host) ? {} : { servername: host };
  return connect({ host, port: Number(port || 443), ALPNProtocols: ["http/1.1"], ...servername });
}
