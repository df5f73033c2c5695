import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderWith } from "./folder.js";
import { HappyService, KEY } from "./happy-service.js";
import { research } from "./in-process.js";
import { type Running, start } from "./run.js";
import { halfSpoiled, type SpoilingProxy, spoilingProxy } from "./spoiling-proxy.js";

/** Commands that run at once, and homes that they share. */
const COMMANDS = 6;
const HOMES = 3;
/** The share of commands that are killed, and the longest time before that, in milliseconds. */
const KILLED = 0.4;
const LATEST_KILL_MS = 1_500;

/**
 * Loaded before the program: writes the local port and the body of each request to a file when its headers are sent.
 * A request that the proxy resets before it reads it is known by its port only.
 */
const LOG_SENT = `import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
subscribe("undici:client:sendHeaders", ({ request, socket }) => {
  const line = JSON.stringify({ port: socket.localPort, body: request.body && String(request.body) });
  appendFileSync(process.env.SENT_LOG, line + "\\n");
});`;

const PRELOAD = `--import=data:text/javascript,${encodeURIComponent(LOG_SENT)}`;

export interface Chaos {
  /** How many creates the service carried out. */
  creates: number;
  commands: number;
  kills: number;
  connections: number;
  /** Creates that no history knows, by their prompt. */
  lost: string[];
  /** Prompts that the service has more than once. */
  doubled: string[];
  /** Unknown outcomes of creates that were neither spoiled nor killed, each with what its command wrote to stderr. */
  unfounded: string[];
}

/**
 * Runs commands through a proxy that spoils their connections, kills them at random moments, and compares what the
 * service created with what the histories hold. `goesOn` is asked, with the number of commands so far, before each.
 */
export async function chaos(goesOn: (commands: number) => boolean, random: () => number): Promise<Chaos> {
  const service = await HappyService.start();
  const proxy = await spoilingProxy(service.server.port, () => halfSpoiled(random));
  const run = new ChaosRun(service, proxy, random);
  await Promise.all(Array.from({ length: COMMANDS }, (_, worker) => run.loop(worker, goesOn)));
  const outcome = await run.compare();
  await proxy.close();
  await service.server.close();
  return outcome;
}

class ChaosRun {
  readonly #service: HappyService;
  readonly #proxy: SpoilingProxy;
  readonly #random: () => number;
  readonly #homes = Array.from({ length: HOMES }, () => folderWith());
  readonly #killed = new Set<string>();
  /** By prompt, what the command that created it wrote to stderr. */
  readonly #stderr = new Map<string, string>();
  #commands = 0;
  #kills = 0;

  constructor(service: HappyService, proxy: SpoilingProxy, random: () => number) {
    this.#service = service;
    this.#proxy = proxy;
    this.#random = random;
  }

  /** One command after the other. */
  async loop(worker: number, goesOn: (commands: number) => boolean): Promise<void> {
    const home = this.#homes[worker % HOMES] ?? "";
    for (let nth = 0; goesOn(this.#commands); nth++) {
      const name = `chaos ${worker}-${nth}`;
      const { args, prompts } = this.#command(home, name);
      const service = { RESEARCH_BASE_URL: this.#proxy.url, RESEARCH_API_KEY: KEY, RESEARCH_OUTPUT: "json" };
      const env = { ...service, NODE_OPTIONS: PRELOAD, SENT_LOG: sentLog(home) };
      await this.#run(start(args, { home, env, timeoutMs: 60_000 }), prompts);
    }
  }

  #command(home: string, name: string): { args: string[]; prompts: string[] } {
    const timeout = ["--timeout", "3s", "--request-timeout", "15s"];
    const kind = Math.floor(this.#random() * 5);
    if (kind === 0) return { args: ["run", `${name} => COMPLETED`, ...timeout], prompts: [name] };
    if (kind === 1) return { args: ["watch", "@last", ...timeout], prompts: [] };
    if (kind === 2) {
      const prompts = [1, 2, 3].map((row) => `${name}-${row}`);
      const file = join(home, `${name.replace(" ", "-")}.txt`);
      writeFileSync(file, prompts.map((prompt) => `${prompt} => COMPLETED\n`).join(""));
      return { args: ["batch", file, "--out", `${file}.out`, ...timeout, "--patience", "5s"], prompts };
    }
    return { args: ["create", `${name} => COMPLETED`, "--request-timeout", "15s"], prompts: [name] };
  }

  async #run(running: Running, prompts: readonly string[]): Promise<void> {
    this.#commands++;
    let kill: NodeJS.Timeout | undefined;
    if (this.#random() < KILLED) {
      kill = setTimeout(() => {
        this.#kills++;
        for (const prompt of prompts) this.#killed.add(prompt);
        running.child.kill(this.#random() < 0.7 ? "SIGKILL" : "SIGINT");
      }, this.#random() * LATEST_KILL_MS);
    }
    const ending = await running.done.catch(String);
    clearTimeout(kill);
    for (const prompt of prompts)
      this.#stderr.set(prompt, typeof ending === "string" ? ending : ending.stderr);
  }

  async compare(): Promise<Chaos> {
    const requests = (await Promise.all(this.#homes.map(listed))).flat();
    const created = new Map<string, number>();
    for (const { prompt } of this.#service.conversations.values()) {
      const name = nameOf(prompt);
      created.set(name, (created.get(name) ?? 0) + 1);
    }
    const names = new Set(requests.map(({ prompt }) => nameOf(prompt)));
    const spoiled = new Set(
      this.#homes
        .flatMap(sentRequests)
        .filter(({ port }) => this.#proxy.spoiledPorts.has(port))
        .map(({ name }) => name),
    );
    const hasReason = (name: string) => this.#killed.has(name) || spoiled.has(name);
    const unknown = requests.filter(({ status }) => status === "UNKNOWN").map(({ prompt }) => nameOf(prompt));
    return {
      creates: this.#service.conversations.size,
      commands: this.#commands,
      kills: this.#kills,
      connections: this.#proxy.connections,
      lost: [...created.keys()].filter((name) => !names.has(name)),
      doubled: [...created].filter(([, count]) => count > 1).map(([name]) => name),
      unfounded: unknown
        .filter((name) => !hasReason(name))
        .map((name) => `${name}: ${this.#stderr.get(name)}`),
    };
  }
}

async function listed(home: string): Promise<{ prompt: string; status: string }[]> {
  const { stdout } = await research(["list", "--json", "--limit", "100000"], { home });
  return JSON.parse(stdout);
}

const sentLog = (home: string) => join(home, "sent.log");

/** The creates whose headers were sent from a home, with the local port of the connection. */
function sentRequests(home: string): { name: string; port: number }[] {
  // On a slow machine each command of a home can be killed before it sends anything.
  if (!existsSync(sentLog(home))) return [];
  const lines = readFileSync(sentLog(home), "utf8").trimEnd().split("\n");
  return lines.flatMap((line) => {
    const { port, body } = JSON.parse(line);
    return body ? [{ name: nameOf(JSON.parse(body).prompt ?? ""), port }] : [];
  });
}

function nameOf(prompt: string): string {
  return prompt.replace(/ =>.*/, "");
}
