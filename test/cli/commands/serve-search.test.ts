import { describe, expect, it } from "vitest";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import { modelEndpoint } from "../../support/model-endpoint.js";
import { behaving, FILES, QUESTION, TIMEOUT } from "../../support/model-researcher.js";
import { proxy } from "../../support/proxy.js";
import type { RunResult } from "../../support/run.js";
import { finds, searxng, smallWeb } from "../../support/small-web.js";

const written = ({ stdout, stderr }: RunResult) => `${stdout}\n${stderr}`;

describe("an invalid search is refused before anything is asked:", () => {
  const MODEL = "--model m --model-url http://127.0.0.1:9/v1";
  const LOCAL = "--search searxng=http://127.0.0.1:9";
  it.each([
    ["without a model", LOCAL, "--model NAME"],
    ["an unknown engine", `${MODEL} --search gopher`, 'the engine "gopher" is not known'],
    ["SearXNG without its address", `${MODEL} --search searxng`, "--search searxng needs its address"],
    ["an address that is not http", `${MODEL} --search searxng=ftp://a.test`, "search URL"],
    ["plain http to another machine", `${MODEL} --search searxng=http://searx.test`, "--insecure-http"],
    ["an address for another engine", `${MODEL} --search brave=https://a.test`, "takes no address"],
    ["an engine without its key", `${MODEL} --search tavily`, "--search tavily needs a key"],
    ["an invalid key", `${MODEL} --search exa`, "invalid key in RESEARCH_SEARCH_API_KEY", "two words"],
    ["pages without a search", `${MODEL} --pages 3`, "--pages needs --search"],
    ["no pages", `${MODEL} ${LOCAL} --pages 0`, "--pages"],
    [
      "an invalid domain",
      `${MODEL} ${LOCAL} --domains a.test,http://b.test/x`,
      'invalid --domains: "http://b.test/x"',
    ],
    ["an invalid other domain", `${MODEL} ${LOCAL} --not-domains a/b`, 'invalid --not-domains: "a/b"'],
  ])("%s", async (_name, args, sentence, key = "") => {
    const env = { RESEARCH_SEARCH_API_KEY: key };
    const run = await research(["try", "x", ...args.split(" ")], { env, cwd: folderWith(FILES) });
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toContain(sentence);
    expect(written(run)).not.toContain("two words");
  });
});

describe("try with the web", () => {
  const searching = async ({ url }: { url: string }) => {
    const endpoint = await modelEndpoint(behaving());
    return ["--model", "m", "--model-url", endpoint.url, "--search", `searxng=${url}`];
  };
  const address = "http://93.184.216.34/http";
  const page = `<title>HTTP</title><h1>Server</h1><p>${TIMEOUT}</p>`;

  it("quotes a page that was found and fetched through the proxy, and no file", async () => {
    const web = await smallWeb({ "93.184.216.34/http": page });
    const via = await proxy(web.port);
    const engine = await searxng(() => finds(address, "http://127.0.0.1:22/", "http://localhost/x"));
    const args = await searching(engine);
    const run = await research(["try", QUESTION, "--verbose", ...args], {
      cwd: folderWith({ "private.md": TIMEOUT }),
      env: { HTTP_PROXY: via.url },
    });
    expect(run).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The timeout is 5000 milliseconds."),
    });
    expect(run.stdout).toContain(address);
    expect(run.stdout).not.toContain("private.md");
    expect(via.requests.map(({ method, url }) => `${method} ${url}`)).toContain("CONNECT 93.184.216.34:80");
    expect(web.visited()).toEqual(["93.184.216.34/http"]);
    expect(run.stderr).toContain("http://localhost/x is left out");
  });

  it("searches a folder too if one is named, and goes on with it if the engine fails", async () => {
    const engine = await searxng(() => "nonsense");
    const args = await searching(engine);
    const run = await research(["try", QUESTION, ...args, "--sources", folderWith(FILES)], {});
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("`http.md:3`") });
  });

  it("fails with a sentence if the engine is the only source and fails", async () => {
    const engine = await searxng(() => "nonsense");
    const args = await searching(engine);
    const run = await research(["try", QUESTION, ...args], {});
    expect(run).toMatchObject({ code: 3, stdout: "" });
    expect(run.stderr).toContain("The search engine searxng sent an answer that is not in its JSON format.");
  });
});
