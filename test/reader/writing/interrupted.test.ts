import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { InProcess } from "../../support/in-process.js";
import { type ChatRequest, modelEndpoint, says, sourceWith } from "../../support/model-endpoint.js";
import { behaving, FILES, QUESTION, TIMEOUT } from "../../support/model-researcher.js";
import { proxy } from "../../support/proxy.js";
import { environment, start } from "../../support/run.js";
import { KEY, until } from "../../support/service.js";
import { sharedPostgres } from "../../support/shared-postgres.js";
import { finds, searxng, smallWeb } from "../../support/small-web.js";
import { ask, post } from "../../support/wire.js";

const { postgres, newDatabase } = await sharedPostgres();

/** What a research over a folder and the web asks others for, in this order. */
const STEPS = ["plan", "search", "robots", "page", "notes", "answer", "check"] as const;
type Step = (typeof STEPS)[number];
const ADDRESS = /^http:\S+/m;
const HOST = "93.184.216.34";
const AGENTS = "A user agent may keep the timeout below that of its proxy.";

/** A model, an engine and a page, which note what they are asked for, and a service on them and on a folder. */
async function world(store: { args: string[]; env: Record<string, string> }) {
  const asked: Step[] = [];
  let hold: { step: Step; meet: (request: { closed: Promise<void> }) => void } | undefined;
  /** Answers, unless it is the step that is held: then it never does. */
  const at = (step: Step, response: ServerResponse, answer: () => void) => {
    asked.push(step);
    if (hold?.step !== step) return answer();
    hold.meet({ closed: new Promise((resolve) => response.once("close", resolve)) });
    hold = undefined;
  };
  const page = (step: Step, type: string, text: string) => (response: ServerResponse) =>
    at(step, response, () => response.writeHead(200, { "content-type": type }).end(text));
  const behave = behaving({
    notes: (request) => {
      const quotes = [TIMEOUT, AGENTS].filter((quote) => sourceWith(request, quote) > 0);
      return says({
        facts: quotes.map((quote) => ({ claim: quote, source: sourceWith(request, quote), quote })),
        queries: [],
      });
    },
    answer: () => says({ sentences: [TIMEOUT, AGENTS].map((text, i) => ({ text, facts: [i + 1] })) }),
  });
  const model = await modelEndpoint((request: ChatRequest) => (response) => {
    if (request.step === "result") throw new Error("no schema was given");
    at(request.step, response, () => void behave(request)(response, request));
  });
  const engine = await searxng(() => (response: ServerResponse) => {
    const results = JSON.stringify(finds(`http://${HOST}/agents`));
    at("search", response, () =>
      response.writeHead(200, { "content-type": "application/json" }).end(results),
    );
  });
  const web = await smallWeb({
    [`${HOST}/robots.txt`]: page("robots", "text/plain", "User-agent: *\nAllow: /\n"),
    [`${HOST}/agents`]: page("page", "text/html", `<title>Agents</title><h1>Keep-alive</h1><p>${AGENTS}</p>`),
  });
  const via = await proxy(web.port);
  const sources = ["--sources", folderWith(FILES), "--search", `searxng=${engine.url}`];
  const chat = ["--model", "m", "--model-url", model.url];
  return {
    asked,
    /** Of the service, with this store. */
    args: ["serve", "--port", "0", ...sources, ...chat, ...store.args],
    env: { RESEARCH_SERVE_API_KEY: KEY, HTTP_PROXY: via.url, ...store.env },
    /** Resolves when the step is asked for, with when that request is closed; it is not answered. */
    held: (step: Step) => new Promise<{ closed: Promise<void> }>((meet) => (hold = { step, meet })),
    /** How many connections to pages are open. */
    open: () => web.open() + via.open(),
  };
}

async function created(baseUrl: string): Promise<string> {
  const { json } = await post(baseUrl, "/api/v1/conversations", KEY, { prompt: QUESTION });
  return String(json.data?.request_id);
}

const stateOf = async (baseUrl: string, id: string) =>
  (await ask(baseUrl, { path: `/api/v1/conversation/${id}/status`, key: KEY })).json.data?.status;

/** The report of a research, when it has ended. */
async function reportOf(baseUrl: string, id: string): Promise<string> {
  const ended = async () => {
    const state = await stateOf(baseUrl, id);
    if (state === "FAILED") throw new Error("the research failed");
    return state === "COMPLETED" ? true : undefined;
  };
  await until(ended);
  return (await ask(baseUrl, { path: `/api/v1/conversation/${id}/output`, key: KEY })).text;
}

const times = (steps: readonly Step[]) =>
  Object.fromEntries(STEPS.map((step) => [step, steps.filter((one) => one === step).length]));

/** What is asked for in a research that nothing interrupts: the question and a query of the plan are searched for. */
const WHOLE = { plan: 1, search: 2, robots: 1, page: 1, notes: 1, answer: 1, check: 1 };

const STORES = {
  memory: async () => ({ args: [], env: {} }),
  "--data": async () => ({ args: ["--data", folderWith()], env: {} }),
  PostgreSQL: async () => ({
    // A loaded machine can keep a process from renewing a shorter lease.
    args: ["--lease", "3s"],
    env: { RESEARCH_SERVE_DATABASE: await newDatabase() },
  }),
};
type Store = keyof typeof STORES;
const isMissing = (store: Store) => store === "PostgreSQL" && postgres === undefined;

/** The soak has every step at every store (test/soak/vitest.config.ts). */
const EVERY_CELL = process.env.EVERY_CELL === "1";
/** How a store keeps a stop, and tells it another process, is its own test. */
const STOPPED: readonly Store[] = EVERY_CELL ? ["memory", "--data", "PostgreSQL"] : ["memory"];
/**
 * The steps in which the service is killed, one after the other. What is kept in memory ends with the process, and
 * PostgreSQL gives up what five processes have died of.
 */
const KILLED: readonly (readonly [Store, readonly [Step, ...Step[]]])[] = [
  ["--data", EVERY_CELL ? STEPS : ["search", "robots", "notes"]],
  ["PostgreSQL", ["page", "answer", "check"]],
  ...(EVERY_CELL ? ([["PostgreSQL", ["plan", "search", "robots", "notes"]]] as const) : []),
];

describe("a research over a folder and the web", () => {
  for (const store of STOPPED)
    it.skipIf(isMissing(store))(
      `in ${store}, stopped in any step: every socket is closed, and nothing is asked for after it`,
      async () => {
        const { asked, args, env, held, open } = await world(await STORES[store]());
        const running = new InProcess(args, { env: environment(folderWith(), env) });
        const [baseUrl = ""] = await running.waitFor(ADDRESS);
        for (const step of STEPS) {
          const begun = held(step);
          const id = await created(baseUrl);
          const { closed } = await begun;
          const stop = await post(baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
          expect(stop.status).toBe(200);
          await closed;
          await until(async () => (open() === 0 ? true : undefined));
          expect(await stateOf(baseUrl, id)).toBe("STOPPED");
          expect(asked.at(-1)).toBe(step);
        }
        const before = asked.length;
        expect(await reportOf(baseUrl, await created(baseUrl))).toContain(`http://${HOST}/agents`);
        // All that was asked for since the last stop is of this one.
        expect(times(asked.slice(before))).toEqual(WHOLE);
        running.signal("SIGTERM");
        expect((await running.done).code).toBe(0);
      },
    );

  for (const [store, steps] of KILLED)
    it.skipIf(isMissing(store))(
      `in ${store}, killed in the steps ${steps.join(", ")}: nothing that was answered is asked for again`,
      async () => {
        const { asked, args, env, held } = await world(await STORES[store]());
        const service = async () => {
          const running = start(args, { env, timeoutMs: 2 ** 30 });
          const [baseUrl = ""] = await running.waitFor(ADDRESS);
          return { running, baseUrl };
        };
        let current = await service();
        let begun = held(steps[0]);
        const id = await created(current.baseUrl);
        for (const next of [...steps.slice(1), undefined]) {
          await begun;
          current.running.kill("SIGKILL");
          await current.running.done;
          // Before it runs again, or it would be past that step.
          if (next !== undefined) begun = held(next);
          current = await service();
        }
        const report = await reportOf(current.baseUrl, id);
        expect(report).toContain("http.md:3");
        expect(report).toContain(`http://${HOST}/agents`);
        const again = Object.fromEntries(steps.map((step) => [step, WHOLE[step] + 1]));
        expect(times(asked)).toEqual({ ...WHOLE, ...again });
        current.running.signal("SIGTERM");
        expect((await current.running.done).code).toBe(0);
      },
    );
});
