import { execFileSync } from "node:child_process";
import { closeSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { gate } from "../../support/gate.js";
import { InProcess, research } from "../../support/in-process.js";
import { answers, hangs, type ModelEndpoint, modelEndpoint } from "../../support/model-endpoint.js";
import { behaving, FILES, MODEL_KEY, QUESTION } from "../../support/model-researcher.js";
import { openedFifo } from "../../support/processes.js";
import { proxy } from "../../support/proxy.js";
import { bash, environment, type RunResult, start } from "../../support/run.js";
import { until } from "../../support/service.js";

const ANSWER = "The timeout is 5000 milliseconds. [1]";
const SERVICE_KEY = "service-key-0123456789";
const modelArgs = ({ url }: Pick<ModelEndpoint, "url">) => ["--model", "test-model", "--model-url", url];
const keys = { RESEARCH_MODEL_API_KEY: MODEL_KEY };

/** Every text that a run has written. */
const written = ({ stdout, stderr }: RunResult) => `${stdout}\n${stderr}`;

const serviceEnv = () => environment(folderWith(), { ...keys, RESEARCH_SERVE_API_KEY: SERVICE_KEY });
const serveArgs = (endpoint: ModelEndpoint, sources: string, more: readonly string[]) => [
  "serve",
  "--port",
  "0",
  "--verbose",
  "--sources",
  sources,
  ...modelArgs(endpoint),
  ...more,
];

/** A service with a model on the files of the tests; what runs against it. */
async function serving(endpoint: ModelEndpoint, data: string[] = []) {
  const sources = folderWith(FILES);
  const service = new InProcess(serveArgs(endpoint, sources, data), { env: serviceEnv() });
  const [baseUrl] = await service.waitFor(/^http:\S+/m);
  const client = {
    env: { RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: SERVICE_KEY },
    home: folderWith(),
  };
  return { service, client };
}

let endpoint: ModelEndpoint;
beforeEach(async () => {
  endpoint = await modelEndpoint(behaving());
});

describe("try with a model", () => {
  const tried = (endpoint: ModelEndpoint, flags: string[] = [], env: Record<string, string> = {}) =>
    research(["try", QUESTION, ...modelArgs(endpoint), ...flags], { cwd: folderWith(FILES), env });

  it("answers with checked quotes, and shows the key nowhere", async () => {
    const run = await tried(endpoint, ["--verbose"], keys);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    expect(run.stdout).toContain("`http.md:3`");
    expect(endpoint.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(4).fill(`Bearer ${MODEL_KEY}`),
    );
    expect(written(run)).not.toContain(MODEL_KEY);
  });

  it("asks an endpoint of plain http through the proxy of the environment", async () => {
    const via = await proxy(Number(new URL(endpoint.url).port));
    const args = ["--model", "m", "--model-url", "http://model.test/v1", "--insecure-http"];
    const run = await research(["try", QUESTION, ...args], {
      cwd: folderWith(FILES),
      env: { ...keys, HTTP_PROXY: via.url },
    });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    expect(new Set(via.requests.map(({ method, url }) => `${method} ${url}`))).toEqual(
      new Set(["POST http://model.test/v1/chat/completions"]),
    );
    expect(endpoint.requests).toHaveLength(4);
  });

  it("takes the key from a file, or asks without one", async () => {
    const file = join(folderWith({ key: `${MODEL_KEY}\n` }), "key");
    await tried(endpoint, [], { RESEARCH_MODEL_API_KEY_FILE: file });
    expect(endpoint.requests[0]?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);
    expect((await tried(endpoint)).stdout).toContain(ANSWER);
    expect(endpoint.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it("takes the key from a FIFO, and hears Ctrl-C while nothing comes", async () => {
    const cwd = folderWith(FILES);
    execFileSync("mkfifo", [join(cwd, "fifo")]);
    const env = { RESEARCH_MODEL_API_KEY_FILE: "fifo", KEY: MODEL_KEY };
    const asked = `try '${QUESTION}' ${modelArgs(endpoint).join(" ")}`;
    const run = await bash(`echo $KEY > fifo & research ${asked}`, { cwd, env });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    expect(endpoint.requests[0]?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);
    const waiting = start(["try", QUESTION, ...modelArgs(endpoint)], { cwd, env });
    // It can be opened for writing as soon as it is read; open, it does not end.
    const writer = await until(async () => openedFifo(join(cwd, "fifo")));
    waiting.signal("SIGINT");
    expect(await waiting.done).toMatchObject({ signal: "SIGINT", stdout: "" });
    closeSync(writer);
  });

  it("keeps to the limits of the flags", async () => {
    const run = await tried(endpoint, ["--model-calls", "1"]);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("## Quotes") });
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe("invalid input sends nothing and is exit 2:", () => {
  const HERE = "--model-url http://127.0.0.1:1/v1";
  it.each([
    ["no URL", "--model m", "As in --model-url http://127.0.0.1:11434/v1"],
    ["a URL and no name", HERE, "--model NAME"],
    ["a limit and no name", "--model-calls 3", "--model-calls needs the name of a model"],
    [
      "an invalid URL",
      "--model m --model-url localhost",
      'invalid model URL: "localhost"; give one like http://127.0.0.1:11434/v1',
    ],
    ["a URL with a login", "--model m --model-url https://a:secret@example.com", "a user name or password"],
    ["plain http to another machine", "--model m --model-url http://example.com/v1", "--insecure-http"],
    ["no tokens", `--model m ${HERE} --model-tokens 0`, "1 or more"],
    ["no time", `--model m ${HERE} --model-time 0`, "more than 0"],
  ])("%s", async (_name, args, message) => {
    for (const command of ["serve --port 0", "try a-question"]) {
      const run = await research(`${command} ${args}`.split(" "));
      expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
      expect(run.stderr).not.toContain("secret");
    }
  });

  it("--model with --researcher, and a key that is none", async () => {
    const args = ["serve", "--port", "0", "--model", "m", "--model-url", "http://127.0.0.1:1"];
    const both = await research([...args, "--researcher", "cat"]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be used together") });
    const broken = await research(args, { env: { RESEARCH_MODEL_API_KEY: "a key with blanks" } });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining("RESEARCH_MODEL_API_KEY") });
    expect(broken.stderr).not.toContain("a key with");
    const nameless = await research(["try", "x", "--model", " ", "--model-url", "http://127.0.0.1:1"]);
    expect(nameless).toMatchObject({ code: 2, stderr: expect.stringContaining("the name is empty") });
    const missing = await research(args, { env: { RESEARCH_MODEL_API_KEY_FILE: "/nowhere/key" } });
    expect(missing).toMatchObject({ code: 12 });
  });
});

describe("a service with a model", () => {
  it("outlives an endpoint that refuses, and says which one it is", async () => {
    const behave = behaving();
    const endpoint = await modelEndpoint((request) =>
      request.nth === 1 ? answers(401, { error: { message: `no such key: ${MODEL_KEY}` } }) : behave(request),
    );
    const { service, client } = await serving(endpoint);
    const refused = await research(["run", QUESTION], client);
    expect(refused.code).toBe(3);
    const answered = await research(["run", QUESTION], client);
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining(ANSWER) });
    service.signal("SIGTERM");
    const ended = await service.done;
    expect(ended.code).toBe(0);
    expect(written(refused) + written(answered) + written(ended)).not.toContain(MODEL_KEY);
  });

  it("with --log json shows how far each research is under its own id", async () => {
    const behave = behaving();
    const OTHER = "Which port does the server listen on?";
    const { opened: shown, open: goOn } = gate();
    const endpoint = await modelEndpoint((request) => {
      // The other one never gets its plan.
      if (request.input.includes(OTHER)) return hangs;
      return async (response) => {
        if (request.step === "answer") await shown;
        return behave(request)(response, request);
      };
    });
    const { service, client } = await serving(endpoint, ["--log", "json"]);
    const other = (await research(["create", OTHER], client)).stdout.trim();
    await until(async () => (endpoint.requests.length === 1 ? true : undefined));
    const requestId = (await research(["create", QUESTION], client)).stdout.trim();
    const readProgress = () =>
      service.stderr
        .split("\n")
        .filter((line) => line.includes('"progress"') && line.endsWith("}"))
        .map((line) => JSON.parse(line));
    await until(async () => readProgress().find(({ progress }) => progress.step === "write"));
    goOn();
    await research(["watch", requestId, "--interval", "50ms"], client);
    const stepsOf = (id: string) =>
      readProgress().flatMap(({ request_id, progress }) => (request_id === id ? progress.step : []));
    expect(stepsOf(other)).toEqual(["plan"]);
    expect(stepsOf(requestId)).toEqual(expect.arrayContaining(["plan", "write"]));
    expect(readProgress()).toHaveLength(stepsOf(requestId).length + 1);
    service.signal("SIGTERM");
    await service.done;
  });

  it("pays for nothing twice after kill -9", async () => {
    const behave = behaving();
    let isDown = true;
    const endpoint = await modelEndpoint((request) =>
      isDown && request.step === "answer" ? hangs : behave(request),
    );
    const folder = folderWith();
    // The same sources: what the model is asked has to be the same.
    const args = serveArgs(endpoint, folderWith(FILES), ["--data", folder]);
    const home = folderWith();
    const clientOf = async (service: Pick<InProcess, "waitFor">) => {
      const [baseUrl] = await service.waitFor(/^http:\S+/m);
      return { home, env: { RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: SERVICE_KEY } };
    };
    const first = start(args, { env: serviceEnv(), timeoutMs: 60_000 });
    const created = await research(["create", QUESTION], await clientOf(first));
    await until(async () => (endpoint.count("answer") === 1 ? true : undefined));
    first.kill("SIGKILL");
    await first.done;
    isDown = false;
    const second = new InProcess(args, { env: serviceEnv() });
    const client = await clientOf(second);
    const id = created.stdout.trim();
    await research(["watch", id, "--interval", "50ms"], client);
    expect((await research(["output", id], client)).stdout).toContain(ANSWER);
    expect(endpoint.requests.map(({ step }) => step)).toEqual(["plan", "notes", "answer", "answer", "check"]);
    const kept = readdirSync(join(folder, "exchanges")).map((name) =>
      readFileSync(join(folder, "exchanges", name), "utf8"),
    );
    expect(kept.join("")).toContain("keep-alive timeout");
    expect(kept.join("")).not.toContain(MODEL_KEY);
    second.signal("SIGTERM");
    await second.done;
  });

  it("a stop closes the connection at once, asks nothing more and keeps nothing", async () => {
    const behave = behaving();
    const endpoint = await modelEndpoint((request) => (request.step === "notes" ? hangs : behave(request)));
    const folder = folderWith();
    const { service, client } = await serving(endpoint, ["--data", folder]);
    const created = await research(["create", QUESTION], client);
    await until(async () => (endpoint.count("notes") === 1 ? true : undefined));
    expect(readdirSync(join(folder, "exchanges"))).toHaveLength(1);
    const stopped = await research(["stop", "-y", created.stdout.trim()], client);
    expect(stopped.code).toBe(0);
    await endpoint.requests.at(-1)?.closed;
    const status = await research(["status", created.stdout.trim()], client);
    expect(status.stdout).toContain("STOPPED");
    expect(readdirSync(join(folder, "exchanges"))).toEqual([]);
    expect(endpoint.requests).toHaveLength(2);
    service.signal("SIGTERM");
    await service.done;
  });

  it("gives no child process what is set for the model", async () => {
    const folder = folderWith();
    const run = await start(["serve", "--sources", folder, ...modelArgs(endpoint), "--exec", "env"], {
      env: { ...keys, RESEARCH_MODEL_OTHER: "x" },
    }).done;
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("RESEARCH_BASE_URL=");
    expect(written(run)).not.toMatch(/RESEARCH_MODEL_|sk-model/);
  });

  it("reads neither its own data nor the sources' hidden files", async () => {
    const sources = folderWith({
      ...FILES,
      ".hidden.md": "The keep-alive timeout of the server is a secret.\n",
    });
    writeFileSync(join(sources, "more.md"), "The keep-alive timeout is open.\n");
    const data = join(sources, "data");
    const args = ["serve", "--port", "0", "--sources", sources, "--data", data, ...modelArgs(endpoint)];
    const service = new InProcess(args, { env: serviceEnv() });
    const [baseUrl] = await service.waitFor(/^http:\S+/m);
    const env = { RESEARCH_BASE_URL: baseUrl, RESEARCH_API_KEY: SERVICE_KEY };
    const run = await research(["run", QUESTION], { env });
    expect(run.stdout).toContain(ANSWER);
    expect(existsSync(join(data, "journal.ndjson"))).toBe(true);
    const shown = endpoint.requests.map(({ input }) => input).join("\n");
    expect(shown).toContain("is open");
    expect(shown).not.toMatch(/\.hidden|a secret|data\//);
    service.signal("SIGTERM");
    await service.done;
  });
});
