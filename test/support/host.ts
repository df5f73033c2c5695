import { Readable } from "node:stream";
import type { Ending, Host, Signal, Sink } from "../../src/cli/host.js";
import { main } from "../../src/cli/main.js";
import { type Clock, systemClock } from "../../src/clock.js";

/** What the program wrote. */
export interface Written {
  stdout: string;
  stderr: string;
}

export interface Ran extends Ending, Written {}

export interface HostOptions {
  env?: Host["env"];
  clock?: Clock;
  /** What stands on stdin. */
  input?: string;
  /** Told of everything as it is written. */
  onWrite?: (name: keyof Written, text: string) => void;
}

/** A program's surroundings in memory, no terminal among them. `send` is a signal from outside. */
export function memoryHost(options: HostOptions = {}): {
  host: Host;
  written: Written;
  send(signal: Signal): void;
} {
  const written: Written = { stdout: "", stderr: "" };
  const listeners = new Set<(signal: Signal) => void>();
  const sink = (name: keyof Written): Sink => ({
    isTTY: false,
    stream: undefined,
    async write(data) {
      const text = typeof data === "string" ? data : Buffer.from(data).toString("utf8");
      written[name] += text;
      options.onWrite?.(name, text);
    },
  });
  const host: Host = {
    version: "0.0.0-test",
    env: options.env ?? {},
    platform: process.platform,
    stdin: {
      isTTY: false,
      get stream() {
        return Readable.from([options.input ?? ""]) as unknown as NodeJS.ReadStream;
      },
    },
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    clock: options.clock ?? systemClock,
    random: () => 0.5,
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    die: () => {},
    onWarning: () => {},
  };
  const send = (signal: Signal) => {
    for (const listener of listeners) listener(signal);
  };
  return { host, written, send };
}

/** Runs one command line in this process to its end. */
export async function perform(argv: readonly string[], options: HostOptions = {}): Promise<Ran> {
  const { host, written } = memoryHost(options);
  const ending = await main(argv, host);
  return { ...ending, ...written };
}
