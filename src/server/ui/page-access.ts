import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isSameSecret } from "../keys/key-store.js";

/** Generates a secret of 192 bits, in characters that links and cookies may contain. */
const generateSecret = () => randomBytes(24).toString("base64url");

/** Grants access to the browser that opened the link, until this process ends. */
export class PageAccess {
  /** The token of the newest link; undefined once a browser has opened the link. */
  #token: string | undefined;
  readonly #session = generateSecret();

  /** Creates the token of a new link, and invalidates the previous token. */
  renew(): string {
    this.#token = generateSecret();
    return this.#token;
  }

  /** Returns the Set-Cookie header for the first browser that sends the token; undefined for a wrong or used token. */
  open(token: string, request: IncomingMessage): string | undefined {
    if (this.#token === undefined || !isSameSecret(token, this.#token)) return undefined;
    this.#token = undefined;
    return `${nameCookie(request)}=${this.#session}; Path=/ui; HttpOnly; SameSite=Strict`;
  }

  /** Returns whether a request has the cookie. */
  has(request: IncomingMessage): boolean {
    const name = nameCookie(request);
    return (request.headers.cookie ?? "").split(";").some((cookie) => {
      const [cookieName, value] = cookie.trim().split("=", 2);
      return cookieName === name && isSameSecret(value, this.#session);
    });
  }
}

/** Names the cookie after the port, because a browser sends the cookies of a host to all its ports. */
function nameCookie({ socket }: IncomingMessage): string {
  return `research-ui-${socket.localPort}`;
}
