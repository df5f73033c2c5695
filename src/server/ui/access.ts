import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isSameSecret } from "../keys/key-store.js";

/** 192 bits in letters that a link and a cookie may hold. */
const generateSecret = () => randomBytes(24).toString("base64url");

/** Who may see the page: the browser that opened the link, until this process ends. */
export class PageAccess {
  /** Of the newest link; undefined once it was opened. */
  #token: string | undefined;
  readonly #session = generateSecret();

  /** The token of a new link; an older one is not valid any more. */
  renew(): string {
    this.#token = generateSecret();
    return this.#token;
  }

  /** The cookie for the first browser that opens the link (a Set-Cookie header); undefined for another token, or a used one. */
  open(token: string, request: IncomingMessage): string | undefined {
    if (this.#token === undefined || !isSameSecret(token, this.#token)) return undefined;
    this.#token = undefined;
    return `${nameCookie(request)}=${this.#session}; Path=/ui; HttpOnly; SameSite=Strict`;
  }

  /** Whether a request has the cookie. */
  has(request: IncomingMessage): boolean {
    const name = nameCookie(request);
    return (request.headers.cookie ?? "").split(";").some((cookie) => {
      const [cookieName, value] = cookie.trim().split("=", 2);
      return cookieName === name && isSameSecret(value, this.#session);
    });
  }
}

/** A browser sends the cookies of a host to all its ports, so each service has a name of its own. */
function nameCookie({ socket }: IncomingMessage): string {
  return `research-ui-${socket.localPort}`;
}
