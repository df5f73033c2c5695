#!/usr/bin/env node
// The process as a Host for the program, and the only file that decides how the process ends.
// Whatever else of Node is needed is asked for where it is: each of its modules costs a part of the start, and
// importing `node:process` would open every standard stream.
import { fstatSync, readFileSync, writeFileSync } from "node:fs";

// Node 20 has no compile cache, and waits at its end for the optimising compiler to finish undici's parser.
if (process.versions.node.startsWith("20.")) {
  process.getBuiltinModule("node:v8").setFlagsFromString("--liftoff-only");
} else {
  /** @type {Record<string, unknown> & { enableCompileCache?: () => unknown }} */
  const { enableCompileCache } = { ...process.getBuiltinModule("node:module") };
  enableCompileCache?.();
}

/** @type {typeof import("../src/cli/main.js")} */
const { main, systemClock } = await import(new URL("../dist/main.js", import.meta.url).href);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** @typedef {import("../src/cli/host.js").Host} Host */
/** @typedef {import("../src/cli/host.js").Signal} Signal */

/** @type {readonly Signal[]} */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * A stream of the process. Where it is a regular file or a device, a stream's `write` would call back without
 * an error on a full disk; `writeFileSync` on the descriptor throws.
 * @param {1 | 2} fd
 * @param {() => NodeJS.WriteStream} open
 * @returns {import("../src/cli/host.js").Sink}
 */
function sink(fd, open) {
  /** @type {NodeJS.WriteStream | undefined} */
  let stream;
  const opened = () => {
    // The callback of `write` tells; without a listener the same error would end the process as well.
    stream ??= open().on("error", () => {});
    return stream;
  };
  return {
    get isTTY() {
      return isTerminal(fd);
    },
    get stream() {
      return isTerminal(fd) ? opened() : undefined;
    },
    async write(data) {
      if (!isPipe(fd) && !isTerminal(fd)) return writeFileSync(fd, data);
      await new Promise((resolve, reject) => {
        opened().write(data, (error) => (error ? reject(error) : resolve(undefined)));
      });
    },
  };
}

/** @param {number} fd */
function isTerminal(fd) {
  return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
}

/** @param {number} fd */
function isPipe(fd) {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isSocket();
}

/** @param {Signal} signal */
function die(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** @type {Host} */
const host = {
  version,
  env: process.env,
  platform: process.platform,
  stdin: {
    get isTTY() {
      return isTerminal(0);
    },
    get stream() {
      return process.stdin;
    },
  },
  stdout: sink(1, () => process.stdout),
  stderr: sink(2, () => process.stderr),
  clock: systemClock,
  random: Math.random,
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  },
  die,
  onWarning(listener) {
    process.removeAllListeners("warning").on("warning", listener);
  },
};

const { code, signal } = await main(process.argv.slice(2), host);
process.exitCode = code;
if (signal) die(signal);
