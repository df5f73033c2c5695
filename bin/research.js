#!/usr/bin/env node
// The process as a Host for the program, and the only file that decides how the process ends.
import { fstatSync, readFileSync, writeFileSync } from "node:fs";
import module from "node:module";
import process from "node:process";
import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";

/** @type {Record<string, unknown> & { enableCompileCache?: () => unknown }} */
const runtime = { ...module };
// Node 20 has no compile cache, and waits at its end for the optimising compiler to finish undici's parser.
if (process.versions.node.startsWith("20.")) setFlagsFromString("--liftoff-only");
else runtime.enableCompileCache?.();

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
  const isTTY = isatty(fd);
  /** @type {NodeJS.WriteStream | undefined} */
  let stream;
  const opened = () => {
    // The callback of `write` tells; without a listener the same error would end the process as well.
    stream ??= open().on("error", () => {});
    return stream;
  };
  return {
    isTTY,
    get stream() {
      return isTTY ? opened() : undefined;
    },
    async write(data) {
      if (!isTTY && !isPipe(fd)) return writeFileSync(fd, data);
      await new Promise((resolve, reject) => {
        opened().write(data, (error) => (error ? reject(error) : resolve(undefined)));
      });
    },
  };
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
    isTTY: isatty(0),
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
