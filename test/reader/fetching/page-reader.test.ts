import type { ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { allowNamedPrivate } from "../../../src/reader/fetching/allowed-addresses.js";
import { HostGate } from "../../../src/reader/fetching/host-gate.js";
import { PageReader } from "../../../src/reader/fetching/page-reader.js";
import {
  createDocumentReader,
  type DocumentReader,
} from "../../../src/reader/parsing/documents/document-reader.js";
import { splitDocument } from "../../../src/reader/parsing/documents/split-document.js";
import { pdf } from "../../support/pdf.js";
import { proxy } from "../../support/proxy.js";
import { type Page, type SmallWeb, smallWeb } from "../../support/small-web.js";

const never = new AbortController().signal;
const PACE = { atOnce: 1, apartMs: 0 };
const answer =
  (status: number, headers: Record<string, string> = {}, text: string | Buffer = "") =>
  (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "text/html", ...headers }).end(text);
const redirect = (location: string) => answer(302, { location });
const packed = (encoding: string, body: string | Buffer = "packed") =>
  answer(200, { "content-encoding": encoding }, body);
const typed = (type: string, body: string | Buffer = "x") => answer(200, { "content-type": type }, body);
const breaksOff: Page = (response) => {
  response.writeHead(200, { "content-type": "text/html", "content-length": "100" }).write("<p>half");
  setTimeout(() => response.socket?.resetAndDestroy(), 20);
};
const reads = (text: string) => ({ blocks: [{ lines: [text] }] });

/** A reader without a conversation. */
function readerOf(web: Pick<SmallWeb, "network">, read: DocumentReader = splitDocument) {
  const gate = new HostGate(systemClock, PACE);
  const forbidden = (url: URL) => (url.pathname === "/not" ? "it is left out" : undefined);
  const options = { ...web, clock: systemClock, gate, userAgent: "x", read, forbidden, areCited: true };
  return new PageReader(options, never);
}

it.each<[string, Page | undefined, object]>([
  ["/gone", answer(404), { kind: "gone", status: 404 }],
  ["/gone", answer(410), { kind: "gone", status: 410 }],
  ["/x", answer(403), { kind: "status", status: 403 }],
  ["/x", answer(500), { kind: "status", status: 500 }],
  ["/deep/er", redirect("/"), { kind: "front-page", status: 200, url: expect.stringMatching(/test:\d+\/$/) }],
  [
    "/x",
    redirect("/user/login?to=x"),
    { kind: "unreadable", reason: "it redirects to a login or consent page" },
  ],
  [
    "/x",
    answer(200, {}, "<title>Just a moment...</title><p>Checking your browser.</p>"),
    { kind: "unreadable", reason: "it asks whether the reader is human" },
  ],
  ["/x", redirect("/secret"), { kind: "robots", url: expect.stringMatching(/\/secret$/) }],
  ["/x", typed("image/png"), { kind: "type", status: 200, reason: "not text but image/png" }],
  ["/x", typed(""), { kind: "type", reason: "it has no media type" }],
  [
    "/x",
    answer(200, {}, "<script>render()</script>"),
    { kind: "empty", status: 200, reason: "it has no text without its scripts" },
  ],
  ["/x", packed("odd"), { kind: "unreadable", reason: "its encoding is unknown: odd" }],
  [
    "/x",
    packed("gzip"),
    { kind: "unreachable", reason: expect.stringMatching(/^it could not be fetched: /) },
  ],
  ["/x", answer(200, {}, "a".repeat(9_000_000)), { kind: "too-large" }],
  ["/x", packed("gzip", gzipSync(Buffer.alloc(50_000_000, "a"))), { reason: "larger than 8 MiB" }],
  ["/x", answer(200, {}, "a\0b"), { kind: "unreadable", reason: "not text" }],
  ["/x", typed("text/html; charset=utf-8", Buffer.from("caf\xe9", "latin1")), { reason: "not UTF-8 text" }],
  ["/x", typed('text/html; charset="klingon"'), { reason: "its charset is unknown: klingon" }],
  ["/not", answer(200, {}, "x"), { kind: "not-asked", reason: "it is left out" }],
  ["/x", (response) => response.socket?.destroy(), { kind: "unreachable" }],
  ["/x", breaksOff, { kind: "unreachable" }],
  ["/x", redirect("/x"), { kind: "unreadable", reason: "it redirects more than 4 times" }],
  ["/x", redirect("http://[::ffff:10.0.0.1]/"), { reason: "it is not on the public internet" }],
  ["/x", redirect("http://private.test/"), { reason: "it is not on the public internet" }],
  ["/x", redirect("http://127.0.0.1:22/"), { reason: "it is not on the public internet" }],
  ["/x", redirect("file:///etc/passwd"), { reason: "its address is not http or https" }],
  ["/x", redirect("http://a:b@a.test/"), { reason: "its address has a user name" }],
  ["/x", redirect(`http://a.test/${"a".repeat(2_000)}`), { reason: "its address is too long" }],
])("says why %s is not there: %#", async (path, page, why) => {
  const pages = {
    [`a.test${path}`]: page ?? "",
    "a.test/": "<p>front</p>",
    "a.test/user/login?to=x": "<p>name</p>",
    "a.test/robots.txt": answer(200, {}, "User-agent: *\nDisallow: /secret"),
  };
  const web = await smallWeb(pages, { "private.test": [["10.1.2.3"]] });
  expect(await readerOf(web).read(new URL(web.url(`a.test${path}`)))).toMatchObject(why);
});

it.each<[string, Page]>([
  ["identity", packed("identity")],
  ["gzip", packed(" GZIP ", gzipSync("packed"))],
  ["x-gzip", packed("x-gzip", gzipSync("packed"))],
  ["deflate", packed("deflate", deflateSync("packed"))],
  ["brotli", packed("br", brotliCompressSync("packed"))],
  ["a query of the front page", redirect("/?packed")],
  [
    "another site's front page",
    (response) => redirect(`http://www.b.test:${response.socket?.localPort}/`)(response),
  ],
])("reads a page: %s", async (_, page) => {
  const front = "<p>packed</p>";
  const web = await smallWeb({ "a.test/deep/er": page, "a.test/?packed": front, "www.b.test/": front });
  expect(await readerOf(web).read(new URL(web.url("a.test/deep/er")))).toMatchObject(reads("packed"));
});

it("reads what is only called like a page that asks for a person, and a page of logins that was asked for", async () => {
  const text = `<title>Access denied</title><p>${"It was denied. ".repeat(99)}</p>`;
  const web = await smallWeb({
    "a.test/x": text,
    "a.test/login": redirect("/login/"),
    "a.test/login/": "<p>in</p>",
    "a.test/y": redirect("/informed-consent"),
    "a.test/informed-consent": "<p>yes</p>",
  });
  for (const path of ["x", "login", "y"])
    expect(await readerOf(web).read(new URL(web.url(`a.test/${path}`)))).toMatchObject({ blocks: [{}] });
});

it("decodes a page by its byte order mark, whatever charset the header names", async () => {
  const page = typed("text/html; charset=iso-8859-1", Buffer.from("\ufeff<p>caf\u00e9</p>"));
  const web = await smallWeb({ "a.test/x": page });
  expect(await readerOf(web).read(new URL(web.url("a.test/x")))).toMatchObject(reads("caf\u00e9"));
});

it("takes the front page of a site for the one of its www", async () => {
  const web: SmallWeb = await smallWeb({
    "www.a.test/deep": (response) => redirect(web.url("a.test/"))(response),
    "a.test/": "<p>front</p>",
  });
  expect(await readerOf(web).read(new URL(web.url("www.a.test/deep")))).toMatchObject({ kind: "front-page" });
});

it.each([
  ["ftp://a.test/x", "its address is not http or https"],
  ["http://user@a.test/x", "its address has a user name"],
  ["http://:word@a.test/x", "its address has a user name"],
  [`http://a.test/${"x".repeat(2_000)}`, "its address is too long"],
])("does not ask for %#", async (address, reason) => {
  const web = await smallWeb({});
  expect(await readerOf(web).read(new URL(address))).toMatchObject({ kind: "not-asked", reason });
});

it.each<[string, Page, object]>([
  ["is not there", answer(404), reads("here")],
  ["is not ours to read", answer(403), reads("here")],
  ["is asked for too often", answer(429), { kind: "status", status: 429, reason: /: it answered 429$/ }],
  [
    "fails",
    answer(503),
    { kind: "status", status: 503, reason: /robots.txt cannot be read: it answered 503$/ },
  ],
  ["is unpacked in vain", packed("odd"), { kind: "unreadable", reason: /: its encoding is unknown: odd$/ }],
])("a robots.txt that %s", async (_, robots, expected) => {
  const web = await smallWeb({ "a.test/x": "<p>here</p>", "a.test/robots.txt": robots });
  const got = await readerOf(web).read(new URL(web.url("a.test/x")));
  if (!("reason" in got)) return expect(got).toMatchObject(expected);
  const { reason, ...rest } = expected as { reason?: RegExp };
  expect(got).toMatchObject({ ...rest, reason: expect.stringMatching(reason ?? "nothing") });
  expect("status" in got).toBe("status" in rest);
});

it("goes to the address that was checked, through the proxy too, which learns no name", async () => {
  const web = await smallWeb({ "a.test/x": "<p>inside</p>" });
  const between = await proxy(web.port, { login: "u:p" });
  const authorization = `Basic ${Buffer.from("u:p").toString("base64")}`;
  const proxyFor = () => ({ url: new URL(between.url), authorization });
  const reader = readerOf({ network: { ...web.network, proxyFor } });
  expect(await reader.read(new URL(web.url("a.test/x")))).toMatchObject(reads("inside"));
  const asked = new Set(between.requests.map(({ method, url }) => `${method} ${url}`));
  expect([...asked]).toEqual([`CONNECT 127.0.0.1:${web.port}`]);
  expect(web.requests.every(({ headers }) => headers["proxy-authorization"] === undefined)).toBe(true);
});

it("begins requests to one host a second apart, unless they need not be, and two at a time", async () => {
  let time = 0;
  const clock = {
    ...systemClock,
    monotonic: () => time,
    sleep: async (ms: number) => {
      time += ms;
    },
  };
  const gate = new HostGate(clock);
  const begun: unknown[] = [];
  const enter = async (host: string, isUnpaced?: boolean) => {
    const leave = await gate.enter(host, never, isUnpaced);
    begun.push([host, time]);
    return leave;
  };
  await enter("inside", true);
  await enter("inside", true);
  const leave = await enter("a");
  await enter("a");
  const third = enter("a");
  await enter("b");
  leave();
  await third;
  expect(begun).toEqual([
    ...[0, 0].map((at) => ["inside", at]),
    ...[0, 1_000].map((at) => ["a", at]),
    ["b", 1_000],
    ["a", 2_000],
  ]);
  await expect(gate.enter("a", AbortSignal.abort("enough"))).rejects.toBe("enough");
});

it("reads a PDF of the web within the limits of a document", async () => {
  const web = await smallWeb({
    "a.test/harbour": answer(
      200,
      { "content-type": "application/pdf" },
      Buffer.from(pdf("The harbour opens at dawn.")),
    ),
    "a.test/broken": answer(200, { "content-type": "application/pdf" }, "%PDF-1.4 no"),
  });
  const reader = readerOf(web, createDocumentReader(systemClock, 1));
  expect(await reader.read(new URL(web.url("a.test/harbour")))).toMatchObject({
    id: expect.stringMatching(/\/harbour$/),
    blocks: [{ line: 1, lines: ["The harbour opens at dawn."], heading: "page 1" }],
  });
  expect(await reader.read(new URL(web.url("a.test/broken")))).toMatchObject({
    kind: "unreadable",
    reason: expect.stringContaining("it cannot be read: "),
  });
});

it("tells a name that does not exist from a name server that fails", async () => {
  const web = await smallWeb({});
  const failing = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };
  const kindAt = (code: string) =>
    readerOf({ network: { ...web.network, resolve: failing(code) } }).read(new URL("http://a.test/x"));
  expect(await kindAt("ENOTFOUND")).toMatchObject({ kind: "no-host" });
  const reason = "its name has no address: ESERVFAIL";
  expect(await kindAt("ESERVFAIL")).toMatchObject({ kind: "unreachable", reason });
});

it("with private addresses a named host is read on its port, and no redirect of another host leads there", async () => {
  const web = await smallWeb({
    "wiki.test/x": "<p>inside</p>",
    "wiki.test/round": redirect("http://other.test/back"),
    "other.test/to": redirect("http://wiki.test/x"),
  });
  const at = (address: string) => new URL(web.url(address));
  const network = { ...web.network, accessTo: allowNamedPrivate(new Set(["wiki.test", "other.test"])) };
  const pages = await smallWeb({});
  expect(pages.port).not.toBe(web.port);
  const reader = readerOf({ network });
  expect(await reader.read(at("wiki.test/x"))).toMatchObject({ blocks: [{ lines: ["inside"] }] });
  expect(await reader.read(at("other.test/to"))).toMatchObject({ kind: "not-asked" });
  expect(await reader.read(at("wiki.test/round"))).toMatchObject({ kind: "not-asked" });
  expect(await reader.read(at("unnamed.test/x"))).toMatchObject({ kind: "not-asked" });
  expect(web.visited()).toEqual(["wiki.test/x", "other.test/to", "wiki.test/round"]);
});

it("cuts one page at a time, so that other researches have the other processes", async () => {
  let [open, most] = [0, 0];
  const names = ["a", "b", "c", "d"].map((name) => `${name}.test/x`);
  const web = await smallWeb(Object.fromEntries(names.map((name) => [name, `<p>${name}</p>`])));
  const reader = readerOf(web, async (task) => {
    open += 1;
    most = Math.max(most, open);
    // The others are there meanwhile.
    while (web.visited().length < names.length) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return splitDocument(task);
  });
  const pages = await Promise.all(names.map((name) => reader.read(new URL(web.url(name)))));
  expect(pages.map((page) => "blocks" in page)).toEqual([true, true, true, true]);
  expect(most).toBe(1);
});

it("asks one host for as many pages at a time as the pace allows", async () => {
  let [open, most] = [0, 0];
  const slow: Page = (response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      response.writeHead(200, { "content-type": "text/html" }).end("<p>x</p>");
    });
  };
  const names = ["a", "b", "c", "d", "e"].map((name) => `a.test/${name}`);
  const web = await smallWeb(Object.fromEntries(names.map((name) => [name, slow])));
  const reader = readerOf(web);
  await Promise.all(names.map((name) => reader.read(new URL(web.url(name)))));
  expect(most).toBe(1);
});
