import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NAMES, saying } from "../providers/rows.js";
import { addDoubles, addProfile } from "./accounts.js";
import * as does from "./behaviours.js";
import { HappyService, KEY as OWN_KEY } from "./happy-service.js";
import { homeWith, type Listed, listed } from "./home.js";
import { inProcess } from "./in-process.js";
import type { ProviderName } from "./providers/bodies.js";
import { KEY, ProviderDouble } from "./providers/double.js";
import { start } from "./run.js";
import { VirtualClock } from "./virtual-clock.js";

/** The share of creates that meet a fault, and of commands that are killed. Only the killed ones run the built program. */
const FAULTY = 0.6;
const KILLED = 0.12;
const LATEST_KILL_MS = 900;
/** Rows of a batch. */
const ROWS = 8;

/** One create as a service saw it. */
interface Post {
  account: string;
  prompt: string;
  fault: string;
  /** The id of the request that the create made; undefined if it made none. */
  requestId?: string;
  /** The id that stood in the answer. */
  answerId?: string;
}

/** How a service makes a request. */
interface Maker {
  /** Makes the request and returns its id. */
  makeRequest: () => string;
  /** Returns the body of a good answer about a request. */
  describeRequest: (id: string) => object;
}

/** Each way in which a create goes wrong: the answer, and the id in it if there is one. */
const FAULTS: Readonly<Record<string, (maker: Maker) => [does.Behaviour, answerId?: string]>> = {
  ...Object.fromEntries(
    [401, 402, 403, 422, 429].map((status) => [
      `${status} with an id`,
      ({ makeRequest, describeRequest }: Maker) => {
        const id = makeRequest();
        const body = { ...JSON.parse(saying("no", "c")), ...describeRequest(id), status: false };
        return [does.answer({ status, body: JSON.stringify(body) }), id];
      },
    ]),
  ),
  ...Object.fromEntries(
    [303, 408, 409, 425, 499, 502, 504].map((status) => [
      `${status} with an id`,
      ({ makeRequest, describeRequest }: Maker) => {
        const id = makeRequest();
        return [does.answer({ status, body: JSON.stringify(describeRequest(id)) }), id];
      },
    ]),
  ),
  "a torn answer": ({ makeRequest, describeRequest }) => {
    const id = makeRequest();
    const body = JSON.stringify(describeRequest(id));
    return [does.truncate({ body }, body.indexOf(id) + id.length + 2), id];
  },
  "a reset after it was made": ({ makeRequest }) => {
    makeRequest();
    return [does.reset()];
  },
  "a closed connection": () => [does.close()],
  "no HTTP": () => [does.raw("220 smtp ready\r\n")],
  "200 and nothing": ({ makeRequest }) => {
    makeRequest();
    return [does.answer({})];
  },
  "200 HTML": () => [does.html(200)],
  "500": ({ makeRequest }) => {
    makeRequest();
    return [does.answer({ status: 500, body: saying("no", "c") })];
  },
  "503 bare": () => [does.html(503)],
  "429": () => [
    does.answer({ status: 429, body: saying("slow", "rate_limit_exceeded"), headers: { "retry-after": 1 } }),
  ],
  "400": () => [does.answer({ status: 400, body: saying("no", "c") })],
};
const FAULT_NAMES = Object.keys(FAULTS);
/** HTTP statuses of a failing status call for an id that stood in such an answer. */
const FAILING_STATUS = [401, 403, 404, 429, 503];

export interface AccountChaos {
  posts: number;
  commands: number;
  kills: number;
  /** How often each fault was met. */
  faults: Record<string, number>;
  /** Prompts that were sent again although the first create may have made a request. */
  doubled: string[];
  /** Prompts whose answer held an id that stands neither in the history nor in an error. */
  lost: string[];
  /** Prompts of which a request was made and the history has neither its id nor an unknown. */
  forgotten: string[];
  /** Commands whose output holds a key. */
  leaks: string[];
}

/** Creates at seven accounts until `most` creates were sent, and compares them with the history and the errors. */
export async function accountChaos(most: number, random: () => number): Promise<AccountChaos> {
  return await new Chaos(random).run(most);
}

class Chaos {
  readonly #posts: Post[] = [];
  readonly #failingStatus = new Map<string, number>();
  readonly #faults: Record<string, number> = {};
  /** By prompt: the command that sent it, what that wrote to stderr, and whether it was killed. */
  readonly #commands = new Map<string, { stderr: string; isKilled: boolean; argv: readonly string[] }>();
  readonly #leaks: string[] = [];
  #count = 0;
  #kills = 0;

  constructor(private readonly random: () => number) {}

  async run(most: number): Promise<AccountChaos> {
    const { home, env } = homeWith<Record<string, string>>({});
    const service: HappyService = await HappyService.start({
      refuses: (prompt) =>
        this.#refuses("research", prompt, {
          makeRequest: () => service.add(prompt),
          describeRequest: (id) => ({
            data: { request_id: id, status: "PENDING" },
            version: "1",
            status: true,
          }),
        }),
      fault: (operation, _nth, request) =>
        operation === "status" ? this.#failStatus(request.path) : undefined,
    });
    await addProfile(env, "research", service.url, OWN_KEY);
    for (const name of NAMES) await addDoubles(env, await this.#double(name));
    const accounts = ["research", ...NAMES];
    while (this.#posts.length < most) await this.#issueCommand(home, env, accounts);
    return await this.#compare(home);
  }

  async #double(name: ProviderName): Promise<ProviderDouble> {
    const double: ProviderDouble = await ProviderDouble.start(name, {
      refuses: (prompt) =>
        this.#refuses(name, prompt, {
          makeRequest: () => double.add({ input: prompt, query: prompt }),
          describeRequest: (id) => double.answerAbout(id, name === "tavily" ? "pending" : "queued"),
        }),
      fault: (operation, _nth, request) =>
        operation === "status" ? this.#failStatus(request.path) : undefined,
    });
    return double;
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  #refuses(account: string, prompt: string, maker: Maker): does.Behaviour | undefined {
    const post: Post = { account, prompt, fault: "none" };
    this.#posts.push(post);
    // Without a fault the double makes the request and answers with its id.
    if (this.random() >= FAULTY) return undefined;
    post.fault = this.#pick(FAULT_NAMES);
    this.#faults[post.fault] = (this.#faults[post.fault] ?? 0) + 1;
    const makeRequest = () => {
      post.requestId = maker.makeRequest();
      return post.requestId;
    };
    const [behaviour, answerId] = (FAULTS[post.fault] as (typeof FAULTS)[string])({ ...maker, makeRequest });
    if (answerId !== undefined) {
      post.answerId = answerId;
      if (this.random() < 0.5) this.#failingStatus.set(answerId, this.#pick(FAILING_STATUS));
    }
    return behaviour;
  }

  #failStatus(path: string): does.Behaviour | undefined {
    const failing = [...this.#failingStatus].find(([id]) => decodeURIComponent(path).includes(id));
    if (!failing) return undefined;
    const [, status] = failing;
    // The interface's enveloped 404 says that no such request exists, so this double never answers with one.
    return status === 404 ? does.html(404) : does.answer({ status, body: saying("no", "c") });
  }

  async #issueCommand(home: string, env: Record<string, string>, accounts: readonly string[]): Promise<void> {
    const nth = this.#count++;
    const account = this.#pick(accounts);
    const other = this.#pick(accounts.filter((name) => name !== account));
    const prompt = `question ${nth}`;
    const flags = ["-p", account, "--json"];
    const rows = Array.from({ length: ROWS }, (_, row) => `question ${nth}-${row}`);
    const file = join(home, `rows-${nth}.txt`);
    const [argv, prompts] = this.#pick<[string[], string[]]>([
      [["create", prompt, ...flags], [prompt]],
      [["create", prompt, ...flags, "--or", other], [prompt]],
      [["create", prompt, ...flags, "--once"], [prompt]],
      [["run", prompt, ...flags, "--timeout", "2s"], [prompt]],
      [["batch", file, ...flags, "--out", `${file}.out`, "--timeout", "20s", "--patience", "20s"], rows],
    ]);
    if (argv[0] === "batch") writeFileSync(file, rows.join("\n"));
    const turns = argv[0] === "batch" || argv.includes("--once") ? 2 : 1;
    for (let turn = 0; turn < turns; turn++) await this.#run(argv, prompts, { home, env });
  }

  async #run(
    argv: string[],
    prompts: string[],
    at: { home: string; env: Record<string, string> },
  ): Promise<void> {
    const isKilled = this.random() < KILLED;
    let result: { stdout: string; stderr: string };
    if (isKilled) {
      this.#kills++;
      const running = start(argv, { ...at, timeoutMs: 120_000 });
      const timer = setTimeout(() => running.child.kill("SIGKILL"), this.random() * LATEST_KILL_MS);
      result = await running.done.catch(() => ({ stdout: "", stderr: "" }));
      clearTimeout(timer);
    } else {
      // The killed commands run by the real clock: `--once` looks back from it for a day.
      result = await inProcess(argv, { env: at.env, clock: new VirtualClock(Date.now()) });
    }
    if ([KEY, OWN_KEY].some((key) => `${result.stdout}${result.stderr}`.includes(key)))
      this.#leaks.push(argv.join(" "));
    for (const prompt of prompts) {
      const before = this.#commands.get(prompt);
      this.#commands.set(prompt, {
        stderr: `${before?.stderr ?? ""}${result.stderr}`,
        isKilled: isKilled || before?.isKilled === true,
        argv,
      });
    }
  }

  async #compare(home: string): Promise<AccountChaos> {
    const entries = await listed(home, 100_000);
    const ids = new Set(entries.map(({ request_id: id }) => id));
    const prompts = new Map<string, Listed[]>();
    for (const entry of entries) prompts.set(entry.prompt, [...(prompts.get(entry.prompt) ?? []), entry]);
    const all = new Map<string, Post[]>();
    for (const post of this.#posts) all.set(post.prompt, [...(all.get(post.prompt) ?? []), post]);
    const describe = (prompt: string) => {
      const { argv, isKilled } = this.#commands.get(prompt) ?? {};
      const posts = (all.get(prompt) ?? []).map(({ account, fault }) => `${account}: ${fault}`);
      return `${prompt}${isKilled ? " (killed)" : ""}: ${argv?.join(" ")}: ${posts.join(", ")}`;
    };
    // A create that provably made no request may be sent again.
    const isRefused = ({ fault, requestId }: Post) => requestId === undefined && /^(?:429|400)$/.test(fault);
    const doubled = [...all].flatMap(([prompt, posts]) =>
      posts.slice(0, -1).every(isRefused) ? [] : describe(prompt),
    );
    const hasId = ({ prompt, answerId = "" }: Post) => {
      const { stderr = "", isKilled } = this.#commands.get(prompt) ?? {};
      return ids.has(answerId) || stderr.includes(answerId) || (isKilled && prompts.has(prompt));
    };
    const lost = this.#posts.filter((post) => post.answerId !== undefined && !hasId(post));
    const created = this.#posts.filter((post) => post.requestId !== undefined || post.fault === "none");
    return {
      ...{ posts: this.#posts.length, commands: this.#count, kills: this.#kills, faults: this.#faults },
      ...{ doubled, leaks: this.#leaks },
      lost: lost.map(({ prompt }) => describe(prompt)),
      forgotten: created.filter(({ prompt }) => !prompts.has(prompt)).map(({ prompt }) => describe(prompt)),
    };
  }
}
