import { type Behaviour, ok, refuse } from "./behaviours.js";
import { faultServer } from "./fault-server.js";
import { homeWith } from "./home.js";
import { inProcess } from "./in-process.js";
import { KEY, type ProviderDouble } from "./providers/double.js";
import type { Operation, SeenRequest } from "./request-reader.js";
import type { VirtualClock } from "./virtual-clock.js";

/** What a service does with some requests; undefined: the good answer. */
export type Fault = (operation: Operation, nth: number, request: SeenRequest) => Behaviour | undefined;

/**
 * A service with one account, or one for any name: each knows its own key and its own ids alone, and what it is asked
 * about is in `state`.
 */
export async function accountService(name?: string, fault: Fault = () => undefined, state = "COMPLETED") {
  const keys = new Set<string>();
  const server = await faultServer((operation, nth, request) => {
    const key = String(request.headers.authorization);
    keys.add(key);
    const special = fault(operation, nth, request);
    if (special) return special;
    const account = name ?? key.slice("Bearer key-of-".length);
    if (key !== `Bearer key-of-${account}`) return refuse(401, "INVALID_API_KEY");
    if (operation === "create") return ok({ request_id: `${account}-${nth}`, status: "PENDING" });
    const id = decodeURIComponent(request.path.split("/").at(-2) ?? "");
    if (!id.startsWith(`${account}-`)) return refuse(404, "REQUEST_NOT_FOUND");
    if (operation === "output") return ok({ request_id: id, output: `the report of ${account}` });
    return ok({ request_id: id, status: operation === "stop" ? "STOPPED" : state });
  });
  return { server, keys, posts: () => server.count("create") };
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
  const person = homeWith<Record<string, string>>({}, { ...(clock && { clock }) });
  const { env, run } = person;
  const services: Record<string, Awaited<ReturnType<typeof accountService>>> = {};
  for (const [name, fault] of Object.entries(faults)) {
    const service = await accountService(name, fault);
    services[name] = service;
    await addProfile(env, name, service.server.url, `key-of-${name}`);
  }
  await run("config", "use", Object.keys(faults)[0] ?? "");
  const posts = () => Object.values(services).map((service) => service.posts());
  return { ...person, services, posts };
}
