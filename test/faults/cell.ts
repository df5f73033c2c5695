import { answer, type Behaviour } from "../support/behaviours.js";
import { type FaultServer, faultServer, type Script } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { filesWith, foldersIn, type Listed, listed, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import type { RunResult } from "../support/run.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { type JsonError, jsonErrors } from "../support/world.js";
import { failLookups, goodAnswer, ID, type Play } from "./plays.js";

export type Command = "create" | "stop" | "status" | "output" | "watch";

export interface Scene {
  play: Play;
  command: Command;
  /** What the service says of the state when it is asked and that is not what goes wrong; default COMPLETED. */
  state?: string;
  /** What a status call meets where it is not what goes wrong; default: a good answer with `state`. */
  status?: Behaviour;
  /** Which polls of a watch go wrong, from the first one on; default: all. */
  wrongPolls?: (nth: number) => boolean;
  /** Whether whatever else the command asks goes wrong too. */
  everything?: boolean;
  /** How long ago the request was created from this machine, in milliseconds; undefined: it was not. */
  age?: number | undefined;
  flags?: string[];
}

export interface Observed extends RunResult {
  server: FaultServer;
  home: string;
  errors: JsonError[];
  /** The codes of the notices, in their order. */
  notices: string[];
  /** What `list` shows afterwards. */
  history: Listed[];
  /** Milliseconds that passed on the clock of the command. */
  elapsedMs: number;
  /** Where the key turned up. */
  leaks: string[];
}

/** The limit of one exchange, in real time: short for a fault that lasts until it, else more than a busy machine takes. */
const REQUEST_TIMEOUT = { lasting: "1s", other: "10s" };

/** Plays one fault against one command, and looks at everything that a user has afterwards. */
export async function observe(scene: Scene): Promise<Observed> {
  const { play, command, age, flags = [] } = scene;
  const server = await faultServer(script(scene), play.on === "way" ? play.server : {});
  const home = folderWith();
  const clock = new VirtualClock();
  const way = { RESEARCH_BASE_URL: server.url, ...(play.on === "way" && (await play.env?.(server))) };
  const env = { ...foldersIn(home), HOME: home, RESEARCH_API_KEY: KEY, ...way };
  const { origin } = new URL(way.RESEARCH_BASE_URL);
  if (command !== "create" && age !== undefined)
    plant(home, { requestId: ID, origin, createdAt: clock.now() - age });
  const argv = [
    ...(command === "create" ? ["create", PROMPT] : [command, ID]),
    ...["--json", "--request-timeout", REQUEST_TIMEOUT[play.lasts ? "lasting" : "other"]],
    ...flags,
  ];
  const begun = clock.monotonic();
  const undo = play.on === "way" && play.lookup ? failLookups(play.lookup) : () => {};
  const run = await inProcess(argv, { env, clock }).finally(undo);
  const elapsedMs = clock.monotonic() - begun;
  const history = await listed(home);
  await server.close();
  const errors = jsonErrors(run.stderr);
  const notices = noticesIn(run.stderr);
  const leaks = [run.stdout, run.stderr].filter((text) => text.includes(KEY));
  leaks.push(...filesWith(home, KEY));
  return { ...run, server, home, errors, notices, history, elapsedMs, leaks };
}

/** Larger than what a socket takes at once, so that a fault can strike while it is being sent. */
const PROMPT = `why? ${"because ".repeat(12_000)}`;

function script(scene: Scene): Script {
  const { play, command, state = "COMPLETED", status, wrongPolls = () => true, everything } = scene;
  const wrong = command === "watch" ? "status" : command;
  return (operation, nth) => {
    const asked = operation === "other" ? command : operation;
    const isWrong = operation === wrong ? command !== "watch" || wrongPolls(nth) : everything;
    if (play.on === "request" && isWrong) return play.behaviour(asked);
    if (operation === "status" && status) return status;
    if (operation === "other") return answer({ status: 403, body: "no tunnels here" });
    // A watch whose first poll is answered, and whose later ones are not, has to have something to wait for.
    const good = command === "watch" && nth === 1 && wrongPolls(2) ? "PROCESSING" : state;
    return answer(goodAnswer(asked, good));
  };
}

function noticesIn(stderr: string): string[] {
  return stderr
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => (JSON.parse(line) as { notice?: { code: string } }).notice?.code ?? []);
}
