import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parentPort, Worker, type WorkerOptions } from "node:worker_threads";
import { type Clock, systemClock } from "./clock.js";
import { Semaphore } from "./semaphore.js";

export interface ThreadPoolOptions<Question> {
  name: string;
  most: number;
  /** The heap limit of a thread, MiB. */
  heapMib: number;
  /** The time limit of a question, ms. With `processMib`, this is processor time, and the limit of elapsed time is BUSY times as long. */
  limitMs: number | ((question: Question) => number);
  clock: Pick<Clock, "sleep">;
  /** Runs each thread in its own process with this limit of total memory, MiB. The process ends after IDLE_MS without a question. */
  processMib?: number;
}

/** Thrown by `ThreadPool.ask` if a question exceeds the limit of time or memory. The message is a phrase without a subject. */
export class ThreadLimitError extends Error {
  override name = "OverLimit";
  /** `limit`: such as "5 s" or "512 MiB of memory". */
  constructor(readonly limit: string) {
    super(`took more than ${limit}`);
  }
}

/** A message from a thread. A process also reports that it exceeded its memory (`over`) or time (`late`), or was `idle` for too long. */
type ThreadAnswer = "ready" | "over" | "late" | "idle" | { answer: unknown; isLast?: boolean };
type Thread = Worker | ChildProcess;
interface Relayed {
  question: unknown;
  limitMs: number;
}

/** How often a process checks its limits, and how long it waits for the next question before it ends, ms. */
const LOOK_MS = 10;
const IDLE_MS = 2_000;
/** The limit of elapsed time as a multiple of that of processor time, because other work may keep the machine busy. */
const BUSY = 6;

/** Answers each question of a thread with the result of `answer`. The entry point of a thread. */
export function runThread<Question>(answer: (question: Question) => unknown): void {
  const say = (answer: ThreadAnswer) => parentPort?.postMessage(answer);
  parentPort?.on("message", async (question: Question) => say({ answer: await answer(question) }));
  say("ready");
}

/** Relays questions and answers of a thread, and watches its memory and time. The entry point of the thread's process. */
export function runRelayProcess(): void {
  const [file = "", heap, most] = process.argv.slice(1);
  const [heapMib, processMib] = [Number(heap), Number(most)];
  const worker = new Worker(file, buildThreadLimits(heapMib));
  const say = (answer: ThreadAnswer) => process.connected && process.send?.(answer);
  const readMemoryMib = () => process.memoryUsage.rss() / 1_048_576;
  let idleTimer = new AbortController();
  let isLate = () => false;
  const reportEnd = (answer: ThreadAnswer = "over") => {
    say(answer);
    void worker.terminate();
  };
  const wait = () => {
    idleTimer = new AbortController();
    systemClock.sleep(IDLE_MS, idleTimer.signal).then(
      () => say("idle"),
      () => {},
    );
  };
  const watch = async () => {
    while (process.connected && readMemoryMib() < processMib && !isLate()) await systemClock.sleep(LOOK_MS);
    reportEnd(isLate() ? "late" : "over");
  };
  worker.on("message", (answer: ThreadAnswer) => {
    isLate = () => false;
    // A process that has grown large is not reused, so that the next document gets the whole limit.
    say(
      typeof answer === "string"
        ? answer
        : { ...answer, isLast: process.resourceUsage().maxRSS / 1_024 > processMib / 3 },
    );
    wait();
  });
  worker.on("error", (error) => (isOutOfMemory(error) ? reportEnd() : process.disconnect()));
  process.on("message", ({ question, limitMs }: Relayed) => {
    idleTimer.abort();
    const [startedAt, startUsage] = [systemClock.monotonic(), process.cpuUsage()];
    isLate = () => {
      const { user, system } = process.cpuUsage(startUsage);
      return Math.min(systemClock.monotonic() - startedAt, (user + system) / 1_000) > limitMs;
    };
    worker.postMessage(question);
  });
  process.on("disconnect", () => {
    idleTimer.abort();
    void worker.terminate();
  });
  void watch();
}

/** A pool of threads, each of which answers one question at a time. An idle thread keeps no process alive. A thread that fails is ended. */
export class ThreadPool<Question, Answer> {
  readonly #places: Semaphore;
  readonly #all = new Set<Thread>();
  readonly #idle: Thread[] = [];
  constructor(private readonly options: ThreadPoolOptions<Question>) {
    this.#places = new Semaphore(options.most);
  }

  /** Asks a thread. Calls `onBegin` when a thread starts on the question. Rejects with `signal.reason`, OverLimit, or the thread's own error. */
  async ask(question: Question, signal: AbortSignal, onBegin = () => {}): Promise<Answer> {
    const { clock, limitMs, heapMib, processMib } = this.options;
    let releasePlace = () => {};
    let thread: Thread | undefined;
    const deadline = new AbortController();
    try {
      releasePlace = await this.#places.acquire(signal);
      thread = this.#idle.pop();
      if (thread === undefined) {
        thread = this.#start();
        await waitForThreadMessage(thread, signal);
      }
      onBegin();
      keepProcessAlive(thread, true);
      const ms = typeof limitMs === "number" ? limitMs : limitMs(question);
      if (thread instanceof Worker) thread.postMessage(question);
      else thread.send({ question, limitMs: ms } satisfies Relayed);
      const timeout = clock
        .sleep(processMib === undefined ? ms : BUSY * ms, deadline.signal)
        .then(() => "late" as const);
      const answer = await Promise.race([waitForThreadMessage(thread, signal), timeout]);
      if (answer === "late") throw new ThreadLimitError(`${ms / 1_000} s`);
      if (typeof answer === "string") throw new ThreadLimitError(`${processMib ?? heapMib} MiB of memory`);
      keepProcessAlive(thread, false);
      if (answer.isLast) await endThread(thread);
      else this.#idle.push(thread);
      return answer.answer as Answer;
    } catch (error) {
      if (thread) await endThread(thread);
      signal.throwIfAborted();
      throw isOutOfMemory(error) ? new ThreadLimitError(`${heapMib} MiB of memory`) : error;
    } finally {
      deadline.abort();
      releasePlace();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(endThread));
  }

  #start(): Thread {
    const { name, heapMib, processMib } = this.options;
    const thread: Thread =
      processMib === undefined
        ? new Worker(locateThreadBundle(name), buildThreadLimits(heapMib))
        : process
            .getBuiltinModule("node:child_process")
            .fork(locateThreadBundle(name), [`${heapMib}`, `${processMib}`], {
              env: {},
              execArgv: [],
              serialization: "advanced",
              stdio: ["ignore", "ignore", "ignore", "ipc"],
              // Ctrl-C in a terminal must reach only the program, which ends this process after its question.
              detached: true,
            });
    this.#all.add(thread);
    // A thread that dies while idle must not end the program or get another question.
    thread.on("error", () => {});
    const forget = () => {
      if (this.#idle.includes(thread)) this.#idle.splice(this.#idle.indexOf(thread), 1);
    };
    thread.on("message", (answer: ThreadAnswer) => {
      if (typeof answer === "object" || !this.#idle.includes(thread)) return;
      forget();
      void endThread(thread);
    });
    thread.on("exit", () => {
      this.#all.delete(thread);
      forget();
    });
    return thread;
  }
}

function buildThreadLimits(heapMib: number): WorkerOptions {
  // A document can make a library print to stdout or stderr, which must not reach the program's output.
  return { env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMib }, stdout: true, stderr: true };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** Sets whether this process waits for `thread` before it exits. */
function keepProcessAlive(thread: Thread, isHeld: boolean): void {
  for (const part of thread instanceof Worker ? [thread] : [thread, thread.channel])
    part?.[isHeld ? "ref" : "unref"]();
}

async function endThread(thread: Thread): Promise<void> {
  if (thread instanceof Worker) await thread.terminate();
  else if (thread.exitCode === null && thread.signalCode === null && thread.kill("SIGKILL"))
    await once(thread, "exit");
}

/** Returns the next message of a thread that is not `idle`. Rejects if the thread ends, and on an abort. */
async function waitForThreadMessage(
  thread: Thread,
  signal: AbortSignal,
): Promise<Exclude<ThreadAnswer, "idle">> {
  const listeners = new AbortController();
  const until = { signal: AbortSignal.any([signal, listeners.signal]) };
  const exit = once(thread, "exit", until).then(() => {
    throw new Error("its thread has ended");
  });
  const waitForNext = async (): Promise<Exclude<ThreadAnswer, "idle">> => {
    const [answer] = (await once(thread, "message", until)) as [ThreadAnswer];
    return answer === "idle" ? waitForNext() : answer;
  };
  try {
    return await Promise.race([waitForNext(), exit]);
  } finally {
    listeners.abort();
  }
}

/** Finds the bundle of a thread in dist/, for the bundled program and for src. Throws an Error if it is missing. */
export function locateThreadBundle(name: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, `${name}.js`), join(folder, "dist", `${name}.js`)]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error(`dist/${name}.js is missing: run the build`);
  }
}
