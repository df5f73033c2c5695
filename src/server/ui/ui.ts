import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.js";
import { StoreUnavailableError } from "../conversations/conversation-store.js";
import icon from "./browser/icon.svg?raw";
import script from "./browser/live.js?raw";
import { type PageParts, streamPageChanges } from "./live-updates.js";
import { PageAccess } from "./page-access.js";
import { buildMessagePage, buildPageResponse, UI_HEADERS } from "./page-response.js";
import { createConversationView } from "./views/conversation.js";
import { createOverviewView, parseFilter } from "./views/overview.js";
import type { ViewParts } from "./views/shared-parts.js";

export interface Ui {
  /** Creates a link (path and query) that lets one browser in. An earlier link that was not opened becomes invalid. */
  newLink(): string;
  /** Answers a GET or HEAD of `/ui` or a path below it. Never rejects because of the client's input. */
  answer(request: IncomingMessage): Promise<Response>;
  /** Ends all event streams. */
  close(): void;
}

const FILES: Readonly<Record<string, { type: string; text: string }>> = {
  "/ui/live.js": { type: "text/javascript; charset=utf-8", text: script },
  "/ui/icon.svg": { type: "image/svg+xml", text: icon },
};
const CONVERSATION = /^\/ui\/conversations\/([\w.-]+)(\/events)?$/;

/** Creates the page about the service's work. The page is read-only and never contains a key. */
export function createUi(parts: ViewParts): Ui {
  const access = new PageAccess();
  const streams = new Set<AbortController>();
  const overview = createOverviewView(parts);

  const answer = async (request: IncomingMessage): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://service.invalid");
    const token = searchParams.get("t");
    if (pathname === "/ui" && token !== null) return acceptLinkToken(access, token, request);
    if (!access.has(request)) return buildNotLetIn();
    const file = FILES[pathname];
    if (file !== undefined)
      return new Response(file.text, { headers: { ...UI_HEADERS, "Content-Type": file.type } });
    const version = searchParams.get("version") ?? "";
    const host = request.headers.host ?? "";
    const filter = parseFilter(searchParams);
    if (pathname === "/ui") {
      const [title, root, events] = ["Research service", "ui/", "ui/events"];
      const shown = await overview(filter, host);
      return buildPageResponse({ status: 200, title, root, events, query: searchParams, parts: shown });
    }
    if (pathname === "/ui/events")
      return streamPage(() => overview(filter, host), version, parts.clock, streams);
    const [, requestId, isEvents] = CONVERSATION.exec(pathname) ?? [];
    if (requestId === undefined)
      return buildMessagePage(404, "Not found", "There is nothing at this address.", BACK);
    const view = createConversationView(parts, requestId, host);
    if (isEvents) return streamPage(view, version, parts.clock, streams);
    const shown = await view();
    if (shown.size === 0) return buildMessagePage(404, "Not found", NO_CONVERSATION, BACK);
    const [title, root, events] = [`Conversation ${requestId}`, "../", `${requestId}/events`];
    return buildPageResponse({ status: 200, title, root, events, parts: shown });
  };

  return {
    newLink: () => `/ui?t=${access.renew()}`,
    answer: (request) =>
      answer(request).catch((error) => {
        if (!(error instanceof StoreUnavailableError)) throw error;
        return buildMessagePage(
          503,
          "Not now",
          "The service cannot reach its store just now. Reload this page.",
        );
      }),
    close: () => {
      for (const stream of streams) stream.abort(new Error("the service is closing"));
    },
  };
}

const NO_CONVERSATION =
  "No conversation has this id. It was deleted after its time, or another service has it.";
const BACK = '\n<p><a href="/ui">All conversations</a></p>';
const NO_COOKIE =
  "This page is for the browser that opened the link that research serve --ui printed. A link opens once. " +
  "The process prints a new one when it gets the signal SIGUSR2.";
const buildNotLetIn = () => buildMessagePage(401, "Open the link from the terminal", NO_COOKIE);

/** Lets the browser in if the token is valid. Only a GET uses up the link, because previews of links send HEAD. */
function acceptLinkToken(access: PageAccess, token: string, request: IncomingMessage): Response {
  const cookie = request.method === "GET" ? access.open(token, request) : undefined;
  if (cookie === undefined) return buildNotLetIn();
  return new Response(null, {
    status: 303,
    headers: { ...UI_HEADERS, Location: "/ui", "Set-Cookie": cookie },
  });
}

function streamPage(
  view: () => Promise<PageParts>,
  version: string,
  clock: Clock,
  streams: Set<AbortController>,
): Response {
  const stream = new AbortController();
  streams.add(stream);
  const { signal } = stream;
  const isCancelled = () => {
    streams.delete(stream);
    stream.abort(new Error("the reader is gone"));
  };
  let shown: PageParts = new Map();
  const render = async () => {
    try {
      shown = new Map([...(await view()), ["trouble", ""]]);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      shown = new Map([...shown, ["trouble", TROUBLE]]);
    }
    return shown;
  };
  // Otherwise the connection would stay open after the stream when the service closes.
  const headers = { ...UI_HEADERS, "Content-Type": "text/event-stream", Connection: "close" };
  return new Response(streamPageChanges(render, version, clock, { signal, cancelled: isCancelled }), {
    headers,
  });
}

const TROUBLE = '<p class="trouble">The service cannot reach its store just now.</p>';
