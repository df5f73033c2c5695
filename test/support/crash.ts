import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { answerBytes, type Behaviour, envelope } from "./behaviours.js";
import { faultServer } from "./fault-server.js";
import { foldersIn, homeWith, type Listed, listed } from "./home.js";
import { type Running, type RunResult, start } from "./run.js";

/** The id of the one request that each service of this rig makes. */
export const CREATED = "3c1f6d58-0f0b-4a8e-9b39-6d2a7c5e4f10";
const ANSWER = answerBytes({ body: envelope({ request_id: CREATED, status: "PENDING" }) });

export interface Crash {
  run: RunResult;
  /** How many creates the service saw the headers of, and how many it got whole. */
  posts: number;
  whole: number;
  history: Listed[];
}

/** Where a create is killed. `random` in [0, 1) moves the blow a little within its stage. */
export type Stage = (random: number) => Blow;

interface Blow {
  /** Called as soon as the program has been started. */
  begin?: (running: Running, home: string) => void;
  onConnection?: (kill: () => void) => void;
  answer?: (kill: () => void) => Behaviour;
  /** Makes the body larger than what a socket takes at once. */
  large?: boolean;
}

const good: Behaviour = { act: (socket) => void socket.write(ANSWER) };

/** Calls back as soon as the intent's file is there. */
async function afterIntent(running: Running, home: string): Promise<void> {
  const folder = join(foldersIn(home).RESEARCH_STATE_DIR, "open");
  while (running.child.exitCode === null && running.child.signalCode === null) {
    if (existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".json")))
      return running.kill("SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export const STAGES: Readonly<Record<string, Stage>> = {
  "at any time": (random) => ({
    begin: (running) => void delay(random * 400).then(() => running.kill("SIGKILL")),
  }),
  "after the intent": () => ({ begin: (running, home) => void afterIntent(running, home) }),
  "before the POST": (random) => ({ onConnection: (kill) => void delay(random * 14).then(kill) }),
  "after the headers": () => ({ large: true, answer: (kill) => ({ on: "head", act: kill }) }),
  "mid-body": (random) => ({
    large: true,
    // Whoever does not read lets the body come to a stand somewhere in the middle.
    answer: (kill) => ({
      on: "head",
      act: (socket) => {
        socket.pause();
        return delay(random * 30).then(kill);
      },
    }),
  }),
  "after the body": (random) => ({ answer: (kill) => ({ act: () => delay(random * 20).then(kill) }) }),
  "mid-answer": (random) => ({
    answer: (kill) => ({
      act: (socket) =>
        void socket.write(ANSWER.subarray(0, ANSWER.length * random), () => void delay(5).then(kill)),
    }),
  }),
  "after the answer": (random) => ({
    answer: (kill) => ({
      act: (socket) => void socket.write(ANSWER, () => void delay(random * 25).then(kill)),
    }),
  }),
  "after the first byte of output": () => ({
    begin: (running) => void running.child.stdout.once("data", () => running.kill("SIGKILL")),
  }),
};

/** Creates once, with the program killed at a stage, and looks at what is left. */
export async function crash(stage: Stage, random: number): Promise<Crash> {
  const { begin, onConnection, answer, large = false } = stage(random);
  let running: Running | undefined;
  const kill = () => running?.kill("SIGKILL");
  const server = await faultServer(() => answer?.(kill) ?? good, {
    onConnection: () => {
      onConnection?.(kill);
      return "serve";
    },
  });
  const { home, env } = homeWith(server.env);
  running = start(["create"], { home, env, input: large ? "why? ".repeat(200_000) : "why?" });
  begin?.(running, home);
  const run = await running.done;
  const creates = server.of("create");
  await server.close();
  const whole = creates.filter((request) => request.whole).length;
  return { run, posts: creates.length, whole, history: await listed(home) };
}

/** What is wrong after a crash; nothing, if no request is lost and none was made twice. */
export function losses({ run, posts, whole, history }: Crash): string[] {
  const wrong: string[] = [];
  if (posts > 1) wrong.push(`${posts} POSTs`);
  if (history.length > 1) wrong.push(`${history.length} entries`);
  if (posts > 0 && history.length === 0) wrong.push("a POST that nothing tells of");
  const [entry] = history;
  const isKnown = entry?.request_id === CREATED;
  if (entry && !isKnown && entry.status !== "UNKNOWN") wrong.push(`an entry that is ${entry.status}`);
  if (isKnown && whole === 0) wrong.push("an id from nowhere");
  if (run.stdout !== "" && !isKnown) wrong.push(`printed ${run.stdout.trim()}, which is not recorded`);
  return wrong;
}
