import { type Behaviour, ok, refuse } from "./behaviours.js";
import { faultServer } from "./fault-server.js";
import { homeWith } from "./home.js";
import { inProcess } from "./in-process.js";
import { KEY, type ProviderDouble } from "./providers/double.js";
import type { Operation, SeenRequest } from "./request-reader.js";
import type { VirtualClock } from "./virtual-clock.js";

/** What a service does with some requests; undefined: the good answer. */
export type Fault = (operation: Operation, nth: number, request: SeenRequest) => Behaviour | undefined;

/** A service with one account: it knows its own key and its own ids alone, and completes at the first poll. */
export async function accountService(name: string, fault: Fault = () => undefined) {
  const keys = new Set<string>();
  const server = await faultServer((operation, nth, request) => {
    keys.add(String(request.headers.authorization));
    const special = fault(operation, nth, request);
    if (special) return special;
    if (request.headers.authorization !== `Bearer key-of-${name}`) return refuse(401, "INVALID_API_KEY");
    if (operation === "create") return ok({ request_id: `${name}-${nth}`, status: "PENDING" });
    const id = decodeURIComponent(request.path.split("/").at(-2) ?? "");
    if (!id.startsWith(`${name}-`)) return refuse(404, "REQUEST_NOT_FOUND");
    if (operation === "output") return ok({ request_id: id, output: `the report of ${name}` });
    return ok({ request_id: id, status: operation === "stop" ? "STOPPED" : "COMPLETED" });
  });
  return { name, server, keys, posts: () => server.count("create") };
}

type Env = Record<string, string>;

/** Stores a profile on the machine of `env`. */
export async function addProfile(env: Readonly<Env>, name: string, url: string, key: string): Promise<void> {
  await inProcess(["config", "set", "base-url", url, "-p", name], { env });
  await inProcess(["config", "set", "api-key", "-p", name], { env, input: key });
}

/** Stores a profile for each provider's double, named like the provider. */
export async function addDoubles(env: Readonly<Env>, ...doubles: ProviderDouble[]): Promise<void> {
  for (const { provider, server } of doubles) {
    await inProcess(["config", "set", "provider", provider, "-p", provider], { env });
    await addProfile(env, provider, server.url, KEY);
  }
}

/** A machine with a profile for each service, which has its key; the first one is in use. */
export async function accounts(faults: Readonly<Record<string, Fault | undefined>>, clock?: VirtualClock) {
  const { home, env } = homeWith<Record<string, string>>();
  const run = (...argv: string[]) => inProcess(argv, { env, ...(clock && { clock }) });
  const services: Record<string, Awaited<ReturnType<typeof accountService>>> = {};
  for (const [name, fault] of Object.entries(faults)) {
    const service = await accountService(name, fault);
    services[name] = service;
    await addProfile(env, name, service.server.url, `key-of-${name}`);
  }
  await run("config", "use", Object.keys(faults)[0] ?? "");
  const posts = () => Object.values(services).map((service) => service.posts());
  return { home, env, run, services, posts };
}
