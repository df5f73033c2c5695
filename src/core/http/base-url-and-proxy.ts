/** Returns whether `hostname` (in the form of `URL`) is this machine: 127.0.0.0/8, ::1, localhost and names below it. */
export function isLoopback(hostname: string): boolean {
  return /^(127(\.\d{1,3}){3}|\[?::1\]?)$/.test(hostname) || isLoopbackName(hostname);
}

/** Returns whether `hostname` is a name of this machine by RFC 6761 §6.3. Does not use a resolver. */
export function isLoopbackName(hostname: string): boolean {
  return /(^|\.)localhost$/i.test(hostname);
}

/** Thrown if a base URL cannot be used. The message says why and what to do. */
export class BaseUrlError extends Error {
  override readonly name = "BaseUrlError";
}

/** Parses a base URL, possibly with a path prefix. Messages call it `name` and show `example`. Throws BaseUrlError. */
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
  // Never quote the whole URL, because its user part may contain a secret.
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

/** Environment variables, including those of a proxy. Their names may be in either case; lower case wins, as in curl. */
export interface ProxyEnvironment {
  readonly [name: string]: string | undefined;
}

export interface ProxyAddress {
  /** `http:` or `https:`, without a user, a path or a query. */
  url: URL;
  /** The value of `Proxy-Authorization`; undefined if the setting has no login. */
  authorization: string | undefined;
}

/** Thrown if the proxy in the environment cannot be used. The message never quotes the variable, which may contain a password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";

  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** Returns the proxy for `url`; undefined if none is set or `url` is loopback. Throws ProxyError if the setting is invalid. */
export function chooseProxy(url: URL, env: ProxyEnvironment): ProxyAddress | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const names = url.protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const name = names.find((candidate) => env[candidate]);
  const value = name && env[name];
  if (!value || isExemptFromProxy(url, env.no_proxy || env.NO_PROXY || "")) return undefined;
  return parseProxyAddress(name, value);
}

/** Finds an ALL_PROXY that curl would use for `url` and we ignore. Returns its name and the variable to set instead. */
export function findUnusedProxy(
  url: URL,
  env: ProxyEnvironment,
): [unused: string, instead: string] | undefined {
  if (isLoopback(url.hostname) || isExemptFromProxy(url, env.no_proxy || env.NO_PROXY || ""))
    return undefined;
  const name = chooseProxy(url, env)
    ? undefined
    : ["all_proxy", "ALL_PROXY"].find((variable) => env[variable]);
  return name === undefined ? undefined : [name, url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY"];
}

function parseProxyAddress(name: string, value: string): ProxyAddress {
  const address = value.includes("://") ? value : `http://${value}`;
  if (!URL.canParse(address)) throw createProxyError(name, "it is not a URL");
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol))
    throw createProxyError(name, `${url.protocol}// is not supported, only http:// and https:// are`);
  if (url.pathname !== "/" || url.search || url.hash)
    throw createProxyError(name, "it has a path, a query or a fragment");
  const authorization = encodeProxyAuthorization(name, url);
  return { url: new URL(url.origin), authorization };
}

function encodeProxyAuthorization(name: string, { username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  try {
    const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(login).toString("base64")}`;
  } catch {
    throw createProxyError(name, "its login has a % that must be written as %25");
  }
}

function createProxyError(name: string, why: string): ProxyError {
  const hint = `Set ${name} to an address like http://proxy.example.com:3128, or to nothing.`;
  return new ProxyError(`the proxy in ${name} is invalid: ${why}`, hint);
}

/** Returns whether `NO_PROXY` names the host, read as curl does: `*`, or names separated by commas or spaces, each with its subdomains, `:port` optional. */
function isExemptFromProxy(url: URL, list: string): boolean {
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

const LOGIN_REQUIRED =
  "the proxy requires a login (HTTP 407); add it to the proxy's address, as in http://user:password@proxy.example.com:3128";

/** Thrown if the proxy did not forward a request, so that nothing has reached the service. */
export class ProxyRefusedError extends Error {
  override readonly name = "ProxyRefusal";

  constructor(status: number) {
    super(status === 407 ? LOGIN_REQUIRED : `the proxy refused the connection (HTTP ${status})`);
  }
}
