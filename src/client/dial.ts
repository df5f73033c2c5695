import type { Socket } from "node:net";

/**
 * How long a fresh connection is watched before a create is spent on it. A peer that resets on accept does so
 * within this time, and the create then provably never left.
 */
const SETTLE_MS = 15;
/**
 * Turns of a millisecond that pass before it is handed over, whatever passed before: what came while the loop was
 * busy is read in them, and on a busy machine they take longer, as the peer does.
 */
const TURNS = 8;

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
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
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
