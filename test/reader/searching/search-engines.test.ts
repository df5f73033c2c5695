import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { Connections } from "../../../src/core/http/origin-connections.js";
import { type EngineName, SearchEngine } from "../../../src/reader/searching/search-engines.js";
import { leftovers } from "../../support/leftovers.js";

const KEY = "search-key-0123456789";
const results = [{ url: "https://a.test/", title: "A", description: "snippet" }, { title: "no address" }, 7];

/** By the documentation of each engine: what it is asked, and what it answers. */
it.each<[EngineName, { method: string; url: string; header?: string; body?: object }, object]>([
  ["searxng", { method: "GET", url: "/base/search?q=a+%26+b&format=json" }, { results: results }],
  [
    "brave",
    { method: "GET", url: "/base/?q=a+%26+b&count=5", header: "x-subscription-token" },
    { type: "search", web: { results: results } },
  ],
  [
    "tavily",
    { method: "POST", url: "/base/", header: "authorization", body: { query: "a & b", max_results: 5 } },
    { results: results },
  ],
  [
    "exa",
    { method: "POST", url: "/base/", header: "x-api-key", body: { query: "a & b", numResults: 5 } },
    { results: results },
  ],
  [
    "serper",
    { method: "POST", url: "/base/", header: "x-api-key", body: { q: "a & b", num: 5 } },
    { organic: [{ link: "https://a.test/", title: "A" }] },
  ],
])("asks %s as it wants to be asked, and reads its results", async (name, asked, answer) => {
  const requests: { method: string; url: string; keys: string[]; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const keys = Object.entries(request.headers).flatMap(([header, value]) =>
      String(value).includes(KEY) ? header : [],
    );
    requests.push({ method: request.method ?? "", url: request.url ?? "", keys, body });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  leftovers.add(() => server.close().closeAllConnections());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  const engine = new SearchEngine(name, url, KEY, new Connections(url, undefined, 5_000));
  const { results } = await engine.ask("a & b", 5, new AbortController().signal);
  await engine.close();
  expect(results).toEqual([{ url: "https://a.test/", title: "A" }]);
  const { method, url: path, header, body } = asked;
  expect(requests).toEqual([
    { method, url: path, keys: header ? [header] : [], body: body ? JSON.stringify(body) : "" },
  ]);
});
