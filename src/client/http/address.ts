/** Whether `hostname` (as `URL` gives it) is this machine: 127.0.0.0/8, ::1, localhost and names below it. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return (
    /^127(\.\d{1,3}){3}$/.test(name) || name === "::1" || name === "localhost" || name.endsWith(".localhost")
  );
}

/** Proxy settings as the environment has them; either case holds, the lower one first, as curl does. */
export interface ProxyEnvironment {
  readonly [name: string]: string | undefined;
}

/** The proxy to use for `url`, or undefined for a direct connection. Loopback is never proxied. Throws BaseUrlError. */
export function proxyFor(url: URL, env: ProxyEnvironment): string | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const proxy =
    url.protocol === "https:" ? env.https_proxy || env.HTTPS_PROXY : env.http_proxy || env.HTTP_PROXY;
  if (!proxy || isExempt(url, env.no_proxy || env.NO_PROXY || "")) return undefined;
  const address = proxy.includes("://") ? proxy : `http://${proxy}`;
  // Never quoted: it may hold a password.
  if (!URL.canParse(address))
    throw new BaseUrlError(`the proxy set in the environment for ${url.protocol}// is no URL`);
  return address;
}

/** `NO_PROXY` as curl reads it: `*`, or names separated by commas or spaces, each with its subdomains, `:port` optional. */
function isExempt(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === "*") return true;
      const match = /^\[?(.*?)\]?(?::(\d+))?$/.exec(
        entry.split(":").length > 2 && !entry.includes("]") ? `[${entry}]` : entry,
      );
      const name = (match?.[1] ?? "").replace(/^\*?\./, "");
      if (match?.[2] && match[2] !== port) return false;
      return name !== "" && (host === name || host.endsWith(`.${name}`));
    });
}

/** Why a base URL cannot be used; the message names what is wrong and what to do. */
export class BaseUrlError extends Error {}

/**
 * Reads a base URL: http or https, a path prefix and a trailing slash allowed, no user, query or fragment.
 * Plain http leaves this machine only with `insecureHttp`. Throws BaseUrlError.
 */
export function parseBaseUrl(text: string, insecureHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) {
    throw new BaseUrlError(
      `the base URL is none: ${JSON.stringify(text.replace(/\/\/[^/@]*@/, "//…@"))}; give one like https://research.example.com`,
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
  if (extra) throw new BaseUrlError(`the base URL for ${url.host} has ${extra}; leave that out`);
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url.hostname)) {
    throw new BaseUrlError(
      `the base URL ${url.origin} is plain http to another machine, so the key could be read on the way; use https, or allow it with --insecure-http`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}
