/** Whether `hostname` (as `URL` gives it) is this machine: 127.0.0.0/8, ::1, localhost and names below it. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return /^127(\.\d{1,3}){3}$/.test(name) || name === "::1" || isLocalName(name);
}

/** Whether `hostname` is a name of this machine by RFC 6761 §6.3. No resolver is asked for its address. */
export function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost$/i.test(hostname);
}

/** Why a base URL cannot be used; the message names what is wrong and what to do. */
export class BaseUrlError extends Error {
  override readonly name = "BaseUrlError";
}

/** Reads a base URL, which may have a path prefix. Messages call it `name` and give `example`. Throws BaseUrlError. */
export function parseBaseUrl(
  text: string,
  insecureHttp: boolean,
  { name, example } = { name: "base URL", example: "https://research.example.com" },
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) {
    throw new BaseUrlError(
      `invalid ${name}: ${JSON.stringify(text.replace(/\/\/[^/@]*@/, "//…@"))}; give one like ${example}`,
    );
  }
  // Never quoted whole: a user part may hold a secret.
  const extra =
    url.username || url.password
      ? "a user name or password"
      : /[?]/.test(text)
        ? "a query"
        : /#/.test(text)
          ? "a fragment"
          : undefined;
  if (extra) throw new BaseUrlError(`the ${name} for ${url.host} has ${extra}; leave that out`);
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url.hostname)) {
    throw new BaseUrlError(
      `the ${name} ${url.origin} is plain http to another machine, so the key could be read on the way; use https, or allow it with --insecure-http`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}
