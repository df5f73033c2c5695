// The process as a Host for the program. With research.js, the only code that decides how the process ends.
// Of Node's modules, each costs a part of the start: they are asked for where they are needed. That of `node:process`
// would open the standard streams.
const { fstatSync, statSync, write, writeFileSync } = require("node:fs");
const { version } = require("../package.json");

/** Without a compile cache, enabling it gains nothing. */
const isNode20 = process.versions.node.startsWith("20.");
if (!isNode20) {
  /** @type {Record<string, unknown> & { enableCompileCache?: () => unknown }} */
  const { enableCompileCache } = { ...require("node:module") };
  enableCompileCache?.();
}

/** @typedef {import("../src/cli/terminal/host.js", { with: { "resolution-mode": "import" } }).Host} Host */
/** @typedef {import("../src/cli/terminal/host.js", { with: { "resolution-mode": "import" } }).Signal} Signal */

/** @type {readonly Signal[]} */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * A stream of the process, written to past `process.stdout` if that is not a terminal: on a regular file or a
 * device it would call back without an error on a full disk, and for a pipe it loads the network stack.
 * @param {1 | 2} fd
 * @param {() => NodeJS.WriteStream} open
 * @returns {import("../src/cli/terminal/host.js", { with: { "resolution-mode": "import" } }).Sink}
 */
function sink(fd, open) {
  /** @type {NodeJS.WriteStream | undefined} */
  let stream;
  const opened = () => {
    // The callback of `write` reports the error; without a listener the same error would also end the process.
    stream ??= open().on("error", () => {});
    return stream;
  };
  /** @param {Uint8Array} data */
  const toStream = (data) =>
    new Promise((resolve, reject) => {
      opened().write(data, (error) => (error ? reject(error) : resolve(undefined)));
    });
  /**
   * Writes the pieces for a pipe in the order in which they came.
   * @type {Promise<unknown>}
   */
  let last = Promise.resolve();
  return {
    get isTTY() {
      return isTerminal(fd);
    },
    get stream() {
      return isTerminal(fd) ? opened() : undefined;
    },
    async write(data) {
      const bytes = Buffer.from(data);
      if (isTerminal(fd)) await toStream(bytes);
      else if (!isPipe(fd)) writeFileSync(fd, bytes);
      else {
        const written = last.then(() => toPipe(fd, bytes, toStream));
        last = written.catch(() => {});
        await written;
      }
    },
  };
}

/**
 * Writes from a thread of the pool, where a slow reader does not delay signals. A pipe that another
 * process has made non-blocking needs the stream when it is full.
 * @param {number} fd
 * @param {Uint8Array} data
 * @param {(rest: Uint8Array) => Promise<unknown>} toStream
 */
async function toPipe(fd, data, toStream) {
  for (let rest = data; rest.length > 0; ) {
    /** @type {number} */
    const count = await new Promise((resolve, reject) => {
      write(fd, rest, (error, written) => {
        if (!error) resolve(written);
        else if (error.code === "EAGAIN") resolve(0);
        else reject(error);
      });
    });
    if (count === 0) return toStream(rest);
    rest = rest.subarray(count);
  }
}

/**
 * `node:tty` brings the network stack along, so it is asked about devices only, and not about the commonest.
 * @param {number} fd
 */
function isTerminal(fd) {
  const stats = fstatSync(fd);
  if (!stats.isCharacterDevice()) return false;
  if (stats.rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev) return false;
  return require("node:tty").isatty(fd);
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

/**
 * @param {Host["clock"]} clock
 * @returns {Host}
 */
const hostWith = (clock) => ({
  version,
  program: [process.execPath, require.resolve("./research.js")],
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
  clock,
  random: Math.random,
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  },
  onUserSignal(listener) {
    if (process.platform !== "win32") process.on("SIGUSR2", listener);
  },
  die,
  beforeRequests() {
    // Node 20 waits at its end for the optimising compiler to finish undici's parser, 90 ms after all is done.
    if (isNode20) require("node:v8").setFlagsFromString("--wasm-tiering-budget=1000000000");
  },
  onWarning(listener) {
    process.removeAllListeners("warning").on("warning", listener);
  },
});

/** Node 22.11 and older cannot load the build, which has ES modules, in any other way from here. */
async function start() {
  // If the event loop empties before the program has ended, the program has failed.
  process.exitCode = 1;
  /** @type {string} */
  const built = "../dist/main.js";
  /** @type {typeof import("../src/cli/main.js", { with: { "resolution-mode": "import" } })} */
  const { main, systemClock } = await import(built);
  const { code, signal } = await main(process.argv.slice(2), hostWith(systemClock));
  process.exitCode = code;
  if (signal) die(signal);
}

start();
