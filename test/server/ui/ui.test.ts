import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { StoreUnavailableError } from "../../../src/server/conversations/conversation-store.js";
import { openLocalStore } from "../../../src/server/conversations/local/open-local-store.js";
import { createServiceKey } from "../../../src/server/keys/key-store.js";
import type { Service } from "../../../src/server/service.js";
import { EventStream } from "../../support/event-stream.js";
import { folderWith } from "../../support/folder.js";
import {
  create as createAt,
  endlessResearcher,
  instantResearcher,
  KEY,
  memoryStore,
  serviceFor,
  stateOf,
  type TestServiceOptions,
  until,
} from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";
import { ask, post } from "../../support/wire.js";

let service: Service;

/** A service with a page. */
async function withPage(options: TestServiceOptions = {}): Promise<Service> {
  service = await serviceFor({ ui: true, ...options });
  return service;
}

const linkPath = () => service.newUiLink?.().slice(service.baseUrl.length) ?? "";

/** Opens the link as a browser does, and gives back the headers of its next requests. */
async function opened(): Promise<{ Cookie: string }> {
  const { headers } = await ask(service.baseUrl, { path: linkPath() });
  const [cookie = ""] = headers["set-cookie"] as string[];
  return { Cookie: cookie.split(";")[0] ?? "" };
}

const create = (prompt: string) => createAt(service, { prompt });

const ended = (id: string) =>
  until(async () => /COMPLETED|FAILED|STOPPED/.test(String(await stateOf(service, id))) || undefined);

const page = async (path: string, headers: Record<string, string>) => ask(service.baseUrl, { path, headers });

it("the link opens once, with a cookie that holds for this process only", async () => {
  await withPage();
  const link = service.newUiLink?.() ?? "";
  expect(link).toMatch(new RegExp(`^${service.baseUrl}/ui\\?t=[\\w-]{32}$`));
  const path = link.slice(service.baseUrl.length);
  const preview = await ask(service.baseUrl, { method: "HEAD", path });
  expect(preview.status).toBe(401);
  const first = await ask(service.baseUrl, { path });
  expect([first.status, first.headers.location, first.text]).toEqual([303, "/ui", ""]);
  const port = new URL(service.baseUrl).port;
  const [cookie = ""] = first.headers["set-cookie"] as string[];
  expect(cookie).toMatch(new RegExp(`^research-ui-${port}=[\\w-]{32}; Path=/ui; HttpOnly; SameSite=Strict$`));
  const headers = { Cookie: `other=1; ${cookie.split(";")[0]}` };
  expect((await page("/ui", headers)).status).toBe(200);
  for (const used of [await page(path, {}), await page(path, headers)]) {
    expect(used.status).toBe(401);
    expect(used.text).toContain("Open the link from the terminal");
    expect(used.headers["set-cookie"]).toBeUndefined();
  }
  const [second, third] = [linkPath(), linkPath()];
  expect((await page(second, {})).status).toBe(401);
  expect((await page(third, {})).status).toBe(303);
  expect((await page("/ui", headers)).status).toBe(200);
  const other = await serviceFor({ ui: true });
  const value = cookie.split(/[=;]/)[1];
  const sent = `research-ui-${new URL(other.baseUrl).port}=${value}`;
  expect((await ask(other.baseUrl, { path: "/ui", headers: { Cookie: sent } })).status).toBe(401);
});

it.each(["/ui", "/ui?t=wrong", "/ui/events", "/ui/live.js", "/ui/icon.svg", "/ui/conversations/x", "/ui/x"])(
  "%s without the cookie: 401, with a page that says what to do",
  async (path) => {
    await withPage();
    const { status, headers, text } = await page(path, { Cookie: "research-ui-1=x" });
    expect(status).toBe(401);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(text).toContain("Open the link from the terminal");
    expect(text).not.toContain("<script");
    // A wrong try does not use the link up.
    expect((await page("/ui", await opened())).status).toBe(200);
  },
);

it("reads only, and keeps the rules of every path", async () => {
  await withPage();
  const headers = await opened();
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    for (const path of ["/ui", "/ui/events", "/ui/conversations/x"]) {
      const answer = await ask(service.baseUrl, { method, path, headers });
      expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
    }
  }
  expect((await page("/ui", { ...headers, Host: "elsewhere.example" })).status).toBe(421);
  expect((await page("/ui", { ...headers, Origin: service.baseUrl })).status).toBe(403);
  expect((await ask(service.baseUrl, { method: "HEAD", path: "/ui", headers })).status).toBe(200);
  expect((await page("/ui/nothing", headers)).status).toBe(404);
  for (const id of ["nothing", "..%2f..%2fkeys", "00000000-0000-0000-0000-000000000000"])
    expect((await page(`/ui/conversations/${id}`, headers)).status).toBe(404);
});

it("is not there without --ui", async () => {
  await withPage({ ui: false });
  expect(service.newUiLink).toBeUndefined();
  for (const path of ["/ui", "/ui?t=x", "/ui/live.js"])
    expect((await page(path, {})).json.error?.code).toBe("NOT_FOUND");
});

it("allows its own script and style, and nothing of any other host", async () => {
  await withPage();
  const cookie = await opened();
  const id = await create("why?");
  for (const path of ["/ui", `/ui/conversations/${id}`]) {
    const { headers, text } = await page(path, cookie);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; script-src 'self';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" });
    for (const [, address = ""] of text.matchAll(/(?:href|src|data-events)="([^"]*)"/g)) {
      expect(address).not.toMatch(/^(?:\/|[a-z]+:)/);
      const { href } = new URL(address, `${service.baseUrl}${path}`);
      if (address.includes("events")) (await EventStream.open(href, cookie)).close();
      else expect((await page(new URL(href).pathname, cookie)).status).toBe(200);
    }
    expect(text).not.toMatch(/ style=| on[a-z]+=|<script>/);
  }
});

it("shows what is hostile as text, and no key anywhere", async () => {
  const hostile = '<script>alert("p")</script><img src=x onerror=alert(1)>\u001b[2J';
  await withPage({
    researcher: instantResearcher(() => `# Result\n\n${hostile}\n\n[go](javascript:alert(1))`),
  });
  const id = await create(hostile);
  await ended(id);
  const cookie = await opened();
  const pages = [await page("/ui", cookie), await page(`/ui/conversations/${id}`, cookie)];
  for (const { text } of pages) {
    expect(text).toContain("&lt;script&gt;alert(&quot;p&quot;)&lt;/script&gt;");
    expect(text).not.toMatch(/<script>|<img|\u001b|href="javascript/);
    expect(text).not.toContain(KEY);
  }
  const [, one] = pages;
  expect(one?.text).toContain('<h1 id="s1" dir="auto">Result</h1>');
  const host = new URL(service.baseUrl).host;
  expect(one?.text).toContain(
    `curl -H &quot;Authorization: Bearer $RESEARCH_API_KEY&quot; http://${host}/api/v1/conversation/${id}/output`,
  );
});

it("lists each conversation with its state and times, and shows one as it is drawn", async () => {
  await withPage({ processingMs: 300 });
  const done = await create("What is a tide?");
  await ended(done);
  const cookie = await opened();
  const { text } = await page("/ui", cookie);
  expect(text).toContain(`href="ui/conversations/${done}"`);
  expect(text).toMatch(
    /What is a tide\?.*COMPLETED.*<td><span id="age-[^>]*>\d+m?s<.*<td><span id="processing-/,
  );
  expect(text).toMatch(/<b>1<\/b> <span class="state done">COMPLETED/);
  const view = await page(`/ui/conversations/${done}`, cookie);
  expect(view.text).toContain(`<h1 dir="auto">What is a tide?</h1>\n<p class="id">${done}</p>`);
});

it("says what a running conversation does, and what a completed one used", async () => {
  const usage = { calls: 3, input_tokens: 1200, output_tokens: 34 };
  await withPage({
    researcher: {
      ...instantResearcher(),
      research: async ({ prompt }, signal, tell) => {
        tell?.({ usage, progress: { step: "read", done: 2, of: 5, pages: 0, calls: 1, tokens: 0 } });
        if (prompt !== "ends") await systemClock.sleep(60_000, signal);
        return "a result";
      },
    },
  });
  const [running, done] = [await create("runs"), await create("ends")];
  await ended(done);
  const cookie = await opened();
  const doing = await until(async () => {
    const { text } = await page(`/ui/conversations/${running}`, cookie);
    return /<dt>Doing<\/dt><dd>([^<]*)/.exec(text)?.[1];
  });
  expect(doing).toBe("reading 2 of 5");
  const { text } = await page(`/ui/conversations/${done}`, cookie);
  expect(text).not.toContain("<dt>Doing");
  expect(/Used: ([^<]*)/.exec(text)?.[1]).toBe("3 calls, 1,234 tokens");
});

it("shows at most the newest 200 conversations, and how many there are", async () => {
  await withPage({ pendingMs: 3_600_000 });
  for (let n = 0; n < 205; n++) await create(`question ${n}.`);
  const { text } = await page("/ui", await opened());
  expect(text.match(/href="ui\/conversations\//g)).toHaveLength(200);
  expect(text).toContain("The newest 200 of 205.");
  expect(text).toContain("question 204.");
  expect(text).not.toContain("question 4.");
});

it("shows the hour of each key with its next free slot", async () => {
  await withPage({ tier: "free" });
  for (let n = 0; n < 9; n++) await create("q");
  const cookie = await opened();
  expect((await page("/ui", cookie)).text).toMatch(/9 of 10 in the last hour<\/p>/);
  await create("q");
  const { text } = await page("/ui", cookie);
  expect(text).toMatch(/10 of 10 in the last hour · next free slot: in <span[^>]*>(?:59m|1h)/);
});

it("says only what helps: no limits, no slot that is free, and how to begin", async () => {
  await withPage();
  const { text } = await page("/ui", await opened());
  expect(text).not.toMatch(/Hour of each key|no limit|next free slot|<svg/);
  expect(text).toContain("None yet.");
  expect(text).toContain(`research run &quot;How do tides form?&quot; --base-url ${service.baseUrl}</code>`);
});

it("finds conversations by all words of the question and by state, on the page and in its events", async () => {
  await withPage({ researcher: instantResearcher(() => "a result") });
  const [tides, winds, both] = [
    await create("How do TIDES form?"),
    await create("How do winds form?"),
    await create("Tides & winds"),
  ];
  for (const id of [tides, winds, both]) await ended(id);
  const cookie = await opened();
  const search = async (query: string) => {
    const { text } = await page(`/ui?${query}`, cookie);
    return { text, ids: Array.from(text.matchAll(/href="ui\/conversations\/([^"]*)"/g), ([, id]) => id) };
  };
  expect((await search("q=tides")).ids).toEqual([both, tides]);
  expect((await search("q=+form++how&state=")).ids).toEqual([winds, tides]);
  expect((await search("q=winds+TIDES")).ids).toEqual([both]);
  expect((await search("q=tides&state=COMPLETED")).ids).toEqual([both, tides]);
  expect((await search("state=COMPLETED")).ids).toEqual([both, winds, tides]);
  expect((await search("state=elsewhere")).ids).toEqual([both, winds, tides]);
  for (const query of ["state=FAILED", "q=zebra", `q=${encodeURIComponent('"><script>')}`]) {
    const { text, ids } = await search(query);
    expect(ids).toEqual([]);
    expect(text).toContain('No conversation matches. <a href="ui">Show all</a>');
    expect(text).not.toContain("<script>");
  }
  const { text } = await search("q=tides&state=COMPLETED");
  expect(text).toMatch(/name="q" value="tides".*<option selected>COMPLETED/);
  // The events of that page say nothing of what it does not show.
  const [, events = ""] = /data-events="([^"]*)"/.exec(text) ?? [];
  const address = new URL(events.replaceAll("&amp;", "&"), `${service.baseUrl}/ui`).href;
  const stream = await EventStream.open(address, cookie);
  const more = await create("More tides");
  await until(async () => JSON.stringify(stream.events).includes(more) || undefined);
  expect(JSON.stringify(stream.events)).not.toContain(winds);
  stream.close();
});

it("shows the command that helps: the output of a completed one, a wait for a running one, none of a failed one", async () => {
  await withPage({
    researcher: {
      ...instantResearcher(),
      research: async ({ prompt }, signal) => {
        if (prompt === "runs") await systemClock.sleep(60_000, signal);
        if (prompt === "fails") throw new Error("no luck");
        return "a result";
      },
    },
  });
  const [runs, fails, done] = [await create("runs"), await create("fails"), await create("ends")];
  for (const id of [fails, done]) await ended(id);
  const cookie = await opened();
  const commands = async (id: string) => {
    const { text } = await page(`/ui/conversations/${id}`, cookie);
    const [, shown = ""] = text.split('<div id="curl">');
    return Array.from(shown.matchAll(/<code>([^<]*)/g), ([, line]) => line);
  };
  const at = service.baseUrl;
  const curl = "curl -H &quot;Authorization: Bearer $RESEARCH_API_KEY&quot;";
  expect(await commands(done)).toEqual([
    `research output ${done} --base-url ${at}`,
    `${curl} ${at}/api/v1/conversation/${done}/output`,
  ]);
  expect(await commands(runs)).toEqual([
    `research watch ${runs} --base-url ${at}`,
    `${curl} ${at}/api/v1/conversation/${runs}/status`,
  ]);
  expect(await commands(fails)).toEqual([]);
});

it("has a long question cut in its headline and whole below, and a way on where nothing is", async () => {
  await withPage();
  const long = `${"why ".repeat(60)}\nso?`;
  const id = await create(long);
  const cookie = await opened();
  const { text } = await page(`/ui/conversations/${id}`, cookie);
  expect(text).toMatch(new RegExp(`<h1 dir="auto">(?:why ){39}why…</h1>\n<p class="id">${id}</p>`));
  expect(text).toContain(`tabindex="0">${long}</div>`);
  for (const path of ["/ui/conversations/none", "/ui/x"]) {
    const missing = await page(path, cookie);
    expect(missing.status).toBe(404);
    expect(missing.text).toContain('<a href="/ui">All conversations</a>');
  }
});

it("sends what changes as the states do, and ends when the service closes", async () => {
  const researcher = endlessResearcher();
  await withPage({ researcher });
  const cookie = await opened();
  const stream = await EventStream.open(`${service.baseUrl}/ui/events`, cookie);
  const seen = (pattern: RegExp) =>
    until(async () => stream.events.some((event) => pattern.test(JSON.stringify(event))) || undefined);
  const id = await create("a <b>bold</b> question");
  await seen(new RegExp(`"conversations":".*${id}.*&lt;b&gt;bold.*PROCESSING`));
  const detailStream = await EventStream.open(`${service.baseUrl}/ui/conversations/${id}/events`, cookie);
  await post(service.baseUrl, `/api/v1/conversation/${id}/stop`, KEY);
  await seen(new RegExp(`"conversations":".*${id}.*STOPPED`));
  await until(
    async () =>
      detailStream.events.some((event) => /"facts":".*STOPPED/s.test(JSON.stringify(event))) || undefined,
  );
  // Then only texts that pass with time are sent.
  await until(async () => {
    const { html, text } = stream.events.at(-1) as { html: object; text: object };
    return (Object.keys(html).length === 0 && Object.hasOwn(text, `age-${id}`)) || undefined;
  });
  await service.close();
  await until(async () => (stream.ended && detailStream.ended) || undefined);
});

it("sends nothing that the browser has already", async () => {
  await withPage();
  const id = await create("q");
  await ended(id);
  const cookie = await opened();
  const path = `/ui/conversations/${id}`;
  const [, events = ""] = /data-events="([^"]*)"/.exec((await page(path, cookie)).text) ?? [];
  const address = new URL(events, `${service.baseUrl}${path}`).href;
  const stream = await EventStream.open(address, cookie);
  await until(async () => (stream.events.length >= 2 ? true : undefined));
  for (const event of stream.events) expect(event).toMatchObject({ html: {} });
  stream.close();
});

it("shows the prompt and the result of what ended before a restart", async () => {
  const dataDir = folderWith();
  await withPage({ dataDir, researcher: instantResearcher(() => ({ answer: 42 })) });
  const id = await create("before the restart");
  await ended(id);
  await service.close();
  await withPage({ dataDir });
  const view = await page(`/ui/conversations/${id}`, await opened());
  expect(view.text).toContain(">before the restart</h1>");
  expect(view.text).toMatch(/<dt dir="auto">answer<\/dt>\n<dd><span class="literal">42/);
});

it("lays a result of up to 256 KiB out, and shows a longer one as it came", async () => {
  await withPage({ researcher: instantResearcher(({ prompt }) => "*word*\n\n".repeat(Number(prompt))) });
  for (const [count, shown] of [
    ["32000", "<em>word</em>"],
    ["33000", "<pre><code>*word*\n"],
  ] as const) {
    const id = await create(count);
    await ended(id);
    expect((await page(`/ui/conversations/${id}`, await opened())).text).toContain(shown);
  }
});

it("shows the schema of a request with the numbers that its client sent", async () => {
  await withPage({ researcher: instantResearcher(() => 1) });
  const body = '{"prompt":"x","structured_output":true,"output_schema":{"maximum":12345678901234567890}}';
  const headers = { "Content-Type": "application/json" };
  const { json } = await ask(service.baseUrl, {
    ...{ method: "POST", path: "/api/v1/conversations", key: KEY },
    ...{ headers, body },
  });
  const view = await page(`/ui/conversations/${json.data?.request_id}`, await opened());
  expect(view.text).toContain("{\n  &quot;maximum&quot;: 12345678901234567890\n}");
});

it("names added keys, each with its own hour, and shows none of them", async () => {
  const common = { pendingMs: 0, clock: systemClock, log: () => {} };
  const store = await openLocalStore({ ...common, dataDir: folderWith() });
  const limits = { create: 2, stop: 20 };
  const [alice, gone] = ["alice", "gone"].map((name) =>
    createServiceKey({ name, tier: "free", limits, now: systemClock.now(), validMs: undefined }),
  ) as [ReturnType<typeof createServiceKey>, ReturnType<typeof createServiceKey>];
  await store.keys.add(alice.key);
  await store.keys.add(gone.key);
  await withPage({ store });
  for (const { apiKey } of [alice, gone])
    await post(service.baseUrl, "/api/v1/conversations", apiKey, { prompt: "q" });
  await store.keys.revoke("gone", systemClock.now());
  const { text } = await page("/ui", await opened());
  expect(text).toMatch(/<td>gone \(revoked\)<\/td>.*<td>alice<\/td>/s);
  expect(text).toMatch(
    /<h3>alice <span class="tier">free<\/span><\/h3>\n<p class="hour"><b>create<\/b> 1 of 2/,
  );
  expect(text).not.toContain("<h3>gone");
  for (const { apiKey, key } of [alice, gone]) {
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(key.hash);
  }
});

it("reads nothing for a reader that is gone", async () => {
  const clock = new VirtualClock();
  const store = await memoryStore(clock);
  let reads = 0;
  const counts = store.readCounts.bind(store);
  store.readCounts = () => {
    reads += 1;
    return counts();
  };
  await withPage({ store, clock });
  const stream = await EventStream.open(`${service.baseUrl}/ui/events`, await opened());
  await until(async () => reads >= 3 || undefined);
  stream.close();
  // In an hour that passes while the service still holds the connection there are reads.
  await until(async () => {
    const before = reads;
    await clock.sleep(3_600_000);
    return reads === before || undefined;
  });
});

it("says so when the store cannot be reached, and goes on when it is back", async () => {
  const store = await memoryStore();
  const counts = store.readCounts.bind(store);
  await withPage({ store });
  const cookie = await opened();
  const stream = await EventStream.open(`${service.baseUrl}/ui/events`, cookie);
  const last = (pattern: RegExp) =>
    until(async () => stream.events.some((event) => pattern.test(JSON.stringify(event))) || undefined);
  store.readCounts = () => Promise.reject(new StoreUnavailableError("the store is away"));
  await last(/cannot reach its store/);
  const { status, text } = await page("/ui", cookie);
  expect([status, text.includes("cannot reach its store")]).toEqual([503, true]);
  store.readCounts = counts;
  await until(async () => {
    const { html } = stream.events.at(-1) as { html: { trouble?: string } };
    return html.trouble === "" || undefined;
  });
});

it("says of a stopped one whose create was under way elsewhere that it is not known whether it exists there", async () => {
  const store = await memoryStore();
  const job = { request_id: randomUUID(), prompt: "why?", structured_output: false };
  const caller = { keyId: "k", limits: { create: Infinity, stop: Infinity }, ownOnly: false };
  await store.create(caller, job);
  const claim = await store.remote.claim("new", new AbortController().signal);
  await store.remote.begin(claim, { at: "https://there.example", provider: "There", canStop: true });
  await store.stop(caller, job.request_id);
  await withPage({ store, role: "api" });
  const { text } = await page(`/ui/conversations/${job.request_id}`, await opened());
  expect(text).toContain("It is not known whether it exists at There");
});
