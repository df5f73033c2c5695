import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/clock.js";
import { ResearchFailure } from "../../../src/core/researcher.js";
import type { Source } from "../../../src/reader/searching/source.js";
import { proxy } from "../../support/proxy.js";
import { finds, keptExchanges, type Page, searxng, smallWeb, webOf } from "../../support/small-web.js";

const never = new AbortController().signal;
const page = (title: string, text: string) =>
  `<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>`;
const quotesOf = async (source: Source, query: string) =>
  (await source.search(query, 10)).map(({ passage }) => passage.lines.join(" "));
/** What a research finds of `web` by an engine that answers every query with these addresses. */
async function finding(
  web: Awaited<ReturnType<typeof smallWeb>>,
  urls: string[],
  more?: Parameters<typeof webOf>[2],
) {
  const engine = await searxng(() => finds(...urls));
  return webOf(engine.url, web.network, more).for("r-1", never);
}
const leftOutOf = async (source: Source) => (await source.describe()).unread;

/** A clock that stands until `pass` is called. */
function handClock() {
  let time = 0;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: time + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  };
  const pass = (ms: number) => {
    time += ms;
    for (const sleeper of sleepers) if (sleeper.at <= time && sleepers.delete(sleeper)) sleeper.wake();
  };
  return { clock, pass };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

it("finds pages, fetches them, and gives passages of them with address, title, date and time of access", async () => {
  const web = await smallWeb({
    "a.test/tides": `<html><head><title>Tides &amp; moons</title><meta property="article:published_time" content="2024-05-01">
      </head><body><p>The tide is high twice a day.</p><p>Ebb follows flood.</p></body></html>`,
    "b.test/other": page("Other", "Nothing of interest."),
  });
  const source = await finding(web, [web.url("a.test/tides"), web.url("b.test/other")]);
  const [hit] = await source.search("how often is the tide high", 5);
  expect(hit).toMatchObject({
    passage: { id: web.url("a.test/tides"), lines: ["The tide is high twice a day."], line: 1 },
    score: 1,
  });
  expect(await source.open(web.url("a.test/tides"), 3, 3)).toMatchObject({
    document: {
      url: web.url("a.test/tides"),
      title: "Tides & moons",
      date: "2024-05-01",
      accessed: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
    passages: [{ lines: ["Ebb follows flood."] }],
  });
  expect(await source.open("http://c.test/", 1, 9)).toBeUndefined();
  expect(await source.describe()).toMatchObject({ kind: "the web", documents: 2, unread: [], notes: [] });
  expect(await quotesOf(source, "snippet that nobody may quote")).toEqual([]);
});

it("sends its own name and neither cookies nor a key", async () => {
  const web = await smallWeb({
    "a.test/": (response) =>
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "id=1" }).end("<p>x</p>"),
    "a.test/b": page("B", "b"),
  });
  const urls = [web.url("a.test/"), web.url("a.test/b")];
  await (await finding(web, urls, { apiKey: "search-key-123", version: "1.2.3" })).search("x", 5);
  expect(web.visited()).toHaveLength(2);
  for (const { headers } of web.requests) {
    expect(headers["user-agent"]).toBe("research-cli/1.2.3");
    expect(Object.keys(headers).sort()).not.toEqual(expect.arrayContaining(["cookie"]));
    expect(JSON.stringify(headers)).not.toContain("search-key");
  }
});

describe("left out, named with the reason:", () => {
  const redirect =
    (to: string): Page =>
    (response) =>
      response.writeHead(302, { location: to }).end();
  it("a page that is not there, and the next one is read", async () => {
    const web = await smallWeb({ "b.test/good": page("Good", "This one is good.") });
    const logged: string[] = [];
    const source = await finding(web, [web.url("a.test/page"), web.url("b.test/good")], { logged });
    expect(await quotesOf(source, "good")).toEqual(["This one is good."]);
    expect(await leftOutOf(source)).toEqual([{ name: web.url("a.test/page"), reason: "it answered 404" }]);
    expect(logged.join()).toContain(`${web.url("a.test/page")} is left out`);
  });

  it("a page that robots.txt forbids, and every page of a host whose robots.txt fails", async () => {
    const web = await smallWeb({
      "a.test/robots.txt": (response) =>
        response
          .writeHead(200, { "content-type": "text/plain" })
          .end("User-agent: *\nDisallow: /private\nAllow: /private/open"),
      "a.test/private/x": page("X", "secret"),
      "a.test/private/open": page("Open", "open"),
      "b.test/robots.txt": (response) => response.writeHead(500).end(),
      "b.test/x": page("X", "b"),
      "c.test/robots.txt": (response) => response.writeHead(429).end(),
      "c.test/x": page("X", "c"),
    });
    const urls = ["a.test/private/x", "a.test/private/open", "b.test/x", "c.test/x"].map((one) =>
      web.url(one),
    );
    const source = await finding(web, urls);
    await source.search("open", 5);
    expect(web.visited()).toEqual(["a.test/private/open"]);
    expect(await leftOutOf(source)).toEqual([
      { name: urls[0], reason: "its robots.txt forbids it" },
      { name: urls[2], reason: "its robots.txt cannot be read: it answered 500" },
      { name: urls[3], reason: "its robots.txt cannot be read: it answered 429" },
    ]);
  });

  it("the engine's own origin, and what the domains exclude, also by a redirect", async () => {
    const web = await smallWeb({
      "a.test/engine": (response) => response.writeHead(302, { location: `${engine.url}/admin` }).end(),
      "a.test/out": redirect("http://c.test/x"),
      "a.test/x": page("X", "x"),
      "b.a.test/x": page("X", "x"),
      "c.test/x": page("X", "x"),
    });
    const engine = await searxng(() =>
      finds(
        `${engine.url}/admin`,
        web.url("a.test/x"),
        web.url("a.test/engine"),
        web.url("a.test/out"),
        web.url("b.a.test/x"),
        web.url("c.test/x"),
        web.url("nota.test/x"),
      ),
    );
    const source = webOf(
      engine.url,
      { ...web.network, accessTo: () => "public" as const },
      {
        domains: ["a.test"],
        notDomains: ["b.a.test"],
      },
    ).for("r-1", never);
    await source.search("x", 5);
    expect(web.visited()).toEqual(["a.test/x", "a.test/engine", "a.test/out"]);
    expect(Object.fromEntries((await leftOutOf(source)).map(({ name, reason }) => [name, reason]))).toEqual({
      [`${engine.url}/admin`]: "it is the search engine itself",
      [web.url("a.test/engine")]: "it is the search engine itself",
      [web.url("a.test/out")]: "--domains does not name it",
      [web.url("b.a.test/x")]: "--not-domains names it",
      [web.url("c.test/x")]: "--domains does not name it",
      [web.url("nota.test/x")]: "--domains does not name it",
    });
  });
});

it("connects to the very address that it has checked, whatever the name leads to afterwards", async () => {
  const web = await smallWeb({ "a.test/x": page("X", "first") }, { "a.test": [["127.0.0.1"], ["10.0.0.1"]] });
  const resolved: string[] = [];
  const resolve = (name: string) => {
    resolved.push(name);
    return web.network.resolve(name, never);
  };
  const source = await finding(web, [web.url("a.test/x")], { network: { ...web.network, resolve } });
  expect(await quotesOf(source, "first")).toEqual(["first"]);
  expect(resolved).toEqual(["a.test"]);
});

it("refuses a name with one private address beside a public one", async () => {
  const web = await smallWeb({ "a.test/x": page("X", "x") }, { "a.test": [["127.0.0.1", "10.0.0.1"]] });
  const source = await finding(web, [web.url("a.test/x")]);
  await source.search("x", 5);
  expect(web.requests).toEqual([]);
});

it("an address of 3 MB is left out by its beginning alone", async () => {
  const web = await smallWeb({});
  const logged: string[] = [];
  const source = await finding(web, [`http://a.test/${"a".repeat(3_000_000)}`], { logged });
  await source.search("x", 5);
  const [left] = await leftOutOf(source);
  expect(left).toEqual({
    name: expect.stringMatching(/^http:\/\/a\.test\/a+…$/),
    reason: "its address is too long",
  });
  expect(left?.name.length).toBeLessThan(300);
  expect(logged.join().length).toBeLessThan(1_000);
});

it("asks for at most as many pages as allowed, each once, and says that it stopped there", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`h${i}.test/`, page(`P${i}`, `page number ${i}`)]),
  );
  const web = await smallWeb(pages);
  const urls = Object.keys(pages).map((one) => web.url(one));
  const engine = await searxng((query) => finds(...(query === "first" ? urls.slice(0, 5) : urls)));
  const source = webOf(engine.url, web.network, { pages: 5 }).for("r-1", never);
  for (const query of ["first", "second", "first", "third"]) await source.search(query, 5);
  expect(engine.queries).toEqual(["first", "second", "third"]);
  expect(web.visited()).toHaveLength(5);
  expect(new Set(web.visited()).size).toBe(5);
  expect((await source.describe()).notes).toEqual(["The limit of --pages was reached."]);
});

describe("an engine that", () => {
  const status = (code: number) => (response: { writeHead(code: number): { end(text: string): void } }) =>
    response.writeHead(code).end("no");
  it.each<[string, unknown, string, number]>([
    ["refuses", status(403), "refused (403): its settings may not allow the JSON format", 1],
    ["is out of quota", status(429), "has no quota left, or received too many requests (429)", 1],
    ["answers nonsense", "<html>", "sent an answer that is not in its JSON format", 1],
    ["answers other JSON", { hits: [] }, "sent an answer that is not in its JSON format", 1],
    ["fails twice", status(502), "answered 502", 2],
  ])(
    "%s fails the research if there is nothing else, and is asked no further",
    async (_name, answer, sentence, times) => {
      const engine = await searxng(() => answer);
      const web = await smallWeb({});
      const logged: string[] = [];
      const source = webOf(engine.url, web.network, { logged }).for("r-1", never);
      const failure = await source.search("x", 5).catch((error) => error);
      expect(failure).toBeInstanceOf(ResearchFailure);
      expect(failure.message).toBe(`The search engine searxng ${sentence}.`);
      expect((await source.describe()).notes).toEqual([failure.message]);
      expect(logged.join()).toContain(sentence);
      expect(engine.queries).toHaveLength(times);
    },
  );

  it("fails later is a note", async () => {
    const web = await smallWeb({ "a.test/": page("A", "apples") });
    const engine = await searxng((query) => (query === "apples" ? finds(web.url("a.test/")) : status(429)));
    const source = webOf(engine.url, web.network).for("r-1", never);
    await source.search("apples", 5);
    expect(await quotesOf(source, "more apples")).toEqual(["apples"]);
    expect((await source.describe()).notes).toEqual([
      "The search engine searxng has no quota left, or received too many requests (429).",
    ]);
  });
});

it("asks and fetches nothing twice after a restart, and finds the same", async () => {
  const web = await smallWeb({
    "a.test/1": page("One", "tides and moons"),
    "a.test/2": page("Two", "tides and winds"),
    "b.test/3": (response) => response.writeHead(500).end(),
  });
  const engine = await searxng((query) =>
    query === "tides" ? finds(web.url("a.test/1"), web.url("b.test/3")) : finds(web.url("a.test/2")),
  );
  const exchanges = keptExchanges();
  const run = async () => {
    const source = webOf(engine.url, web.network, { exchanges }).for("r-1", never);
    const hits = [await source.search("tides", 5), await source.search("winds", 5)];
    return { hits, opened: await source.open(web.url("a.test/1"), 1, 9), described: await source.describe() };
  };
  const first = await run();
  const asked = web.requests.length;
  expect(first.hits.map(({ length }) => length)).toEqual([1, 1]);
  expect(await run()).toEqual(first);
  expect(web.requests).toHaveLength(asked);
  expect(engine.queries).toEqual(["tides", "winds"]);

  await webOf((await searxng(() => finds(web.url("a.test/4")))).url, web.network, { exchanges })
    .for("r-1", never)
    .search("another page of a known host", 5);
  expect(web.requests.slice(asked).map(({ address }) => address)).toEqual(["a.test/4"]);
});

it("takes at most 16 MiB of text for one research, and says so", async () => {
  const exchanges = keptExchanges();
  const urls = Array.from({ length: 20 }, (_, i) => `http://h${i}.test/`);
  const web = await smallWeb({});
  const engine = await searxng((query) => finds(...(query === "x" ? urls.slice(0, 10) : urls.slice(10))));
  const block = { line: 1, lines: ["x".repeat(1_048_000)], heading: "", kind: "prose" };
  for (const id of urls) {
    const answer = { id, title: id, accessed: "2026-01-01T00:00:00Z", blocks: [block] };
    await exchanges.append("r-1", { kind: "web", subject: `page ${id}`, answer });
  }
  const source = webOf(engine.url, web.network, { exchanges, pages: 90 }).for("r-1", never);
  await source.search("x", 1);
  expect(await source.describe()).toMatchObject({ documents: 10, notes: [] });
  await source.search("y", 1);
  expect(await source.describe()).toMatchObject({
    documents: 16,
    notes: ["The limit of 16 MiB of text from the web was reached."],
  });
});

it("an engine that is silent for 20 s is asked once more, and then given up", async () => {
  const engine = await searxng(() => () => {});
  const web = await smallWeb({});
  const { clock, pass } = handClock();
  const searching = webOf(engine.url, web.network, { clock }).for("r-1", never).search("x", 5);
  const failed = expect(searching).rejects.toThrow("The search engine searxng did not answer within 20 s.");
  for (let asked = 1; asked <= 2; asked++) {
    while (engine.queries.length < asked) await turn();
    pass(19_999);
    await turn();
    expect(engine.queries).toHaveLength(asked);
    pass(1);
  }
  await failed;
});

it("closes every socket on a stop, and asks for nothing after it", async () => {
  const hangs: Page = (response) =>
    void response.writeHead(200, { "content-type": "text/html" }).write("<p>");
  const web = await smallWeb({ "a.test/1": hangs, "b.test/2": hangs, "c.test/3": hangs });
  const engine = await searxng(() =>
    finds(...["a.test/1", "b.test/2", "c.test/3"].map((one) => web.url(one))),
  );
  const stop = new AbortController();
  const source = webOf(engine.url, web.network).for("r-1", stop.signal);
  const searching = source.search("x", 5).catch((error) => error);
  while (web.visited().length < 3) await turn();
  const reason = new Error("stopped");
  stop.abort(reason);
  expect(await searching).toBe(reason);
  while (web.open() > 0) await turn();
  const asked = web.requests.length;
  expect(await source.search("y", 5).catch((error) => error)).toBe(reason);
  expect(engine.queries).toEqual(["x"]);
  expect(web.requests).toHaveLength(asked);
});

it("leaves out a page that sends bytes for ever when its 20 s are over, its wait for the host not counted", async () => {
  const open = new Set<ServerResponse>();
  const web = await smallWeb({
    "a.test/drip": (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      open.add(response.on("close", () => open.delete(response)));
    },
    "a.test/good": page("Good", "good"),
  });
  const engine = await searxng(() => finds(web.url("a.test/good"), web.url("a.test/drip")));
  const { clock, pass } = handClock();
  const source = webOf(engine.url, web.network, { clock }).for("r-1", never);
  const searching = quotesOf(source, "good");
  while (web.visited().length < 1) await turn();
  pass(1_000);
  while (open.size < 1) await turn();
  for (let second = 1; second <= 19; second++) {
    for (const response of open) response.write("<p>more");
    pass(1_000);
    await turn();
    expect(open.size).toBe(1);
  }
  pass(1_000);
  expect(await searching).toEqual(["good"]);
  expect(await leftOutOf(source)).toEqual([
    { name: web.url("a.test/drip"), reason: "it did not arrive within 20 s" },
  ]);
  while (open.size > 0) await turn();
});

it("many pages of one host make no warning about listeners", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on("warning", listen);
  const names = Array.from({ length: 10 }, (_, i) => `a.test/${i}`);
  const web = await smallWeb(Object.fromEntries(names.map((name) => [name, page("P", name)])));
  const via = await proxy(web.port);
  const engine = await searxng(() => finds(...names.map((name) => web.url(name))));
  const network = { ...web.network, proxyFor: () => ({ url: new URL(via.url), authorization: undefined }) };
  const { clock, pass } = handClock();
  const source = webOf(engine.url, network, { clock, pages: 90 }).for("r-1", new AbortController().signal);
  const searching = source.search("x", 5);
  for (let arrived = 1; arrived <= names.length; arrived++) {
    while (web.visited().length < arrived) await turn();
    pass(1_000);
  }
  await searching;
  process.off("warning", listen);
  expect(web.visited()).toHaveLength(10);
  expect(warnings).toEqual([]);
});
