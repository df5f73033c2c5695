import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandResearcher } from "../../../src/server/researchers/command.js";
import { folderWith } from "../../support/folder.js";

const EXAMPLES = join(import.meta.dirname, "../../../examples/researchers");
const ask = (command: string, prompt: string, more = {}, env: NodeJS.ProcessEnv = {}) =>
  commandResearcher({ command, env: { PATH: process.env.PATH, ...env } }).research(
    { request_id: "r", prompt, structured_output: false, ...more },
    new AbortController().signal,
  );

describe("grep.sh", () => {
  const folder = folderWith({
    "a.md": "A basket holds 12 apples.\nA crate holds pears.\n",
    ".git/x": "basket apples",
  });
  const grep = (prompt: string) => ask(`${EXAMPLES}/grep.sh ${folder}`, prompt);

  it("lists the lines that have the most words of the question", async () => {
    expect(await grep("How many apples does a basket hold?")).toBe(
      `# How many apples does a basket hold?\n\n- ${folder}/a.md:1:A basket holds 12 apples.\n`,
    );
  });

  it("fails where there is none", async () => {
    await expect(grep("zebra migration")).rejects.toThrow(`no line in ${folder} speaks of this`);
    await expect(grep("a b")).rejects.toThrow("the question has no word to look for");
  });
});

describe("openai.js", () => {
  const seen: { auth: string | undefined; path: string | undefined; body: Record<string, unknown> }[] = [];
  let endpoint: Server;
  let url: string;
  beforeAll(async () => {
    endpoint = createServer(async (request, response) => {
      seen.push({
        auth: request.headers.authorization,
        path: request.url,
        body: JSON.parse(await text(request)),
      });
      const content = seen.at(-1)?.body.response_format ? '{"apples":12}' : "Twelve.";
      response.end(JSON.stringify({ choices: [{ message: { content } }] }));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => endpoint.once("listening", resolve));
    url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`;
  });
  afterAll(() => {
    endpoint.close();
    endpoint.closeAllConnections();
  });
  const openai = (env: NodeJS.ProcessEnv, more = {}) =>
    ask(`"${process.execPath}" ${EXAMPLES}/openai.js`, "How many apples?", more, env);

  it("asks the endpoint and gives its answer, as text or as JSON", async () => {
    const env = { OPENAI_BASE_URL: url, OPENAI_MODEL: "m", OPENAI_API_KEY: "secret" };
    expect(await openai(env)).toBe("Twelve.");
    expect(seen[0]).toMatchObject({
      auth: "Bearer secret",
      path: "/v1/chat/completions",
      body: { model: "m" },
    });
    const output_schema = { type: "object", required: ["apples"] };
    expect(await openai(env, { structured_output: true, output_schema })).toEqual({ apples: 12 });
    expect(seen[1]?.body.response_format).toMatchObject({ json_schema: { schema: output_schema } });
  });

  it("fails with a reason", async () => {
    await expect(openai({ OPENAI_BASE_URL: url })).rejects.toThrow("OPENAI_MODEL is not set");
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => closed.once("listening", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const nowhere = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: "m" };
    await expect(openai(nowhere)).rejects.toThrow("the endpoint could not be asked: ECONNREFUSED");
  });
});
