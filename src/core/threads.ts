import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { parentPort, type TransferListItem, Worker, type WorkerOptions } from "node:worker_threads";
import { type Clock, systemClock } from "./clock.js";
import { Semaphore } from "./semaphore.js";

export interface ThreadOptions<Question> {
  name: string;
  most: number;
  /** What one question may allocate, MiB. */
  heapMib: number;
  /** How long one may take, ms; in a process of its own that is processor time, and BUSY times as long by the clock. */
  limitMs: number | ((question: Question) => number);
  clock: Pick<Clock, "sleep">;
  /** Each thread has a process, which may use this much memory, MiB, also beside the heap, and ends when it has been idle for a while. */
  processMib?: number;
}

/** A question took more time or memory than it may, as a phrase that follows its subject. */
export class OverLimit extends Error {
  override name = "OverLimit";
  /** `limit` as in "5 s" or "512 MiB of memory". */
  constructor(readonly limit: string) {
    super(`took more than ${limit}`);
  }
}

/** What a thread says. A process also says that it took too much memory or time, or waits in vain. */
type ThreadAnswer = "ready" | "over" | "late" | "idle" | { answer: unknown; isLast?: boolean };
type Thread = Worker | ChildProcess;
interface Relayed {
  question: unknown;
  limitMs: number;
}

/** How often the memory of a process is looked at, and how long it waits for another question, ms. */
const LOOK_MS = 10;
const IDLE_MS = 2_000;
/** How many times its processor time one question may take on a machine with other work. */
const BUSY = 6;

/** The entry of a thread: answers each question with what `answer` gives. */
export function answerQuestions<Question>(answer: (question: Question) => unknown): void {
  const say = (answer: ThreadAnswer) => parentPort?.postMessage(answer);
  parentPort?.on("message", async (question: Question) => say({ answer: await answer(question) }));
  say("ready");
}

/** The entry of a thread's process: passes questions on to it and its answers back, and watches the whole memory. */
export function relayQuestions(): void {
  const [file = "", heap, most] = process.argv.slice(1);
  const [heapMib, processMib] = [Number(heap), Number(most)];
  const worker = new Worker(file, buildThreadLimits(heapMib));
  const say = (answer: ThreadAnswer) => process.connected && process.send?.(answer);
  const readMemoryMib = () => process.memoryUsage.rss() / 1_048_576;
  let waited = new AbortController();
  let isLate = () => false;
  const reportEnd = (answer: ThreadAnswer = "over") => {
    say(answer);
    void worker.terminate();
  };
  const wait = () => {
    waited = new AbortController();
    systemClock.sleep(IDLE_MS, waited.signal).then(
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
    // What a large document leaves behind is not charged to the next one.
    say(
      typeof answer === "string"
        ? answer
        : { ...answer, isLast: process.resourceUsage().maxRSS / 1_024 > processMib / 3 },
    );
    wait();
  });
  worker.on("error", (error) => (isOutOfMemory(error) ? reportEnd() : process.disconnect()));
  process.on("message", ({ question, limitMs }: Relayed) => {
    waited.abort();
    const [begun, used] = [systemClock.monotonic(), process.cpuUsage()];
    isLate = () => {
      const { user, system } = process.cpuUsage(used);
      return Math.min(systemClock.monotonic() - begun, (user + system) / 1_000) > limitMs;
    };
    worker.postMessage(question);
  });
  process.on("disconnect", () => {
    waited.abort();
    void worker.terminate();
  });
  void watch();
}

/** Threads that answer one question at a time each, and keep no process alive meanwhile. One that fails is ended with all its memory. */
export class Threads<Question, Answer> {
  readonly #places: Semaphore;
  readonly #all = new Set<Thread>();
  readonly #idle: Thread[] = [];
  constructor(private readonly options: ThreadOptions<Question>) {
    this.#places = new Semaphore(options.most);
  }

  /** Rejects with `signal.reason`, an OverLimit, or what ended the thread. `begun`: the question waits for nothing any more. */
  async ask(
    question: Question,
    signal: AbortSignal,
    { transfer = [], begun }: { transfer?: TransferListItem[]; begun?: (() => void) | undefined } = {},
  ): Promise<Answer> {
    const { clock, limitMs, heapMib, processMib } = this.options;
    let leave = () => {};
    let thread: Thread | undefined;
    const over = new AbortController();
    try {
      leave = await this.#places.take(signal);
      thread = this.#idle.pop();
      if (thread === undefined) {
        thread = this.#start();
        await waitForMessage(thread, signal);
      }
      begun?.();
      holdProcess(thread, true);
      const ms = typeof limitMs === "number" ? limitMs : limitMs(question);
      if (thread instanceof Worker) thread.postMessage(question, transfer);
      else thread.send({ question, limitMs: ms } satisfies Relayed);
      const late = clock
        .sleep(processMib === undefined ? ms : BUSY * ms, over.signal)
        .then(() => "late" as const);
      const answer = await Promise.race([waitForMessage(thread, signal), late]);
      if (answer === "late") throw new OverLimit(`${ms / 1_000} s`);
      if (typeof answer === "string") throw new OverLimit(`${processMib ?? heapMib} MiB of memory`);
      holdProcess(thread, false);
      if (answer.isLast) await end(thread);
      else this.#idle.push(thread);
      return answer.answer as Answer;
    } catch (error) {
      if (thread) await end(thread);
      signal.throwIfAborted();
      throw isOutOfMemory(error) ? new OverLimit(`${heapMib} MiB of memory`) : error;
    } finally {
      over.abort();
      leave();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(end));
  }

  #start(): Thread {
    const { name, heapMib, processMib } = this.options;
    const thread: Thread =
      processMib === undefined
        ? new Worker(locateThreadFile(name), buildThreadLimits(heapMib))
        : process
            .getBuiltinModule("node:child_process")
            .fork(locateThreadFile(name), [`${heapMib}`, `${processMib}`], {
              env: {},
              execArgv: [],
              serialization: "advanced",
              stdio: ["ignore", "ignore", "ignore", "ipc"],
              // A Ctrl-C at the terminal is for the program, which ends this one when its question is over.
              detached: true,
            });
    this.#all.add(thread);
    // A thread that dies while idle must neither end the process nor be given a question.
    thread.on("error", () => {});
    const forget = () => {
      if (this.#idle.includes(thread)) this.#idle.splice(this.#idle.indexOf(thread), 1);
    };
    thread.on("message", (answer: ThreadAnswer) => {
      if (typeof answer === "object" || !this.#idle.includes(thread)) return;
      forget();
      void end(thread);
    });
    thread.on("exit", () => {
      this.#all.delete(thread);
      forget();
    });
    return thread;
  }
}

function buildThreadLimits(heapMib: number): WorkerOptions {
  // stdout and stderr: what a document makes a library print.
  return { env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMib }, stdout: true, stderr: true };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** Whether this process waits for that thread before it ends. */
function holdProcess(thread: Thread, isHeld: boolean): void {
  for (const part of thread instanceof Worker ? [thread] : [thread, thread.channel])
    part?.[isHeld ? "ref" : "unref"]();
}

async function end(thread: Thread): Promise<void> {
  if (thread instanceof Worker) await thread.terminate();
  else if (thread.exitCode === null && thread.signalCode === null && thread.kill("SIGKILL"))
    await once(thread, "exit");
}

/** The next message of a thread. Rejects when it ends, and on an abort. */
async function waitForMessage(thread: Thread, signal: AbortSignal): Promise<Exclude<ThreadAnswer, "idle">> {
  const heard = new AbortController();
  const until = { signal: AbortSignal.any([signal, heard.signal]) };
  const exit = once(thread, "exit", until).then(() => {
    throw new Error("its thread was ended");
  });
  const waitForNext = async (): Promise<Exclude<ThreadAnswer, "idle">> => {
    const [answer] = (await once(thread, "message", until)) as [ThreadAnswer];
    return answer === "idle" ? waitForNext() : answer;
  };
  try {
    return await Promise.race([waitForNext(), exit]);
  } finally {
    heard.abort();
  }
}

/** The bundle of a thread. It lies in dist/ both for the bundled program and for the sources beside it. */
export function locateThreadFile(name: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, `${name}.js`), join(folder, "dist", `${name}.js`)]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error(`dist/${name}.js is missing: run the build`);
  }
}
