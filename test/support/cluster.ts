import { type Running, start } from "./run.js";
import { KEY } from "./service.js";

export type Role = "all" | "api" | "worker";

/** A process of the cluster; an API or "all" has a base URL that answers. */
export interface Member {
  role: Role;
  process: Running;
  baseUrl: string;
}

/** Real `research serve` processes at one database. */
export class Cluster {
  readonly members = new Set<Member>();
  constructor(
    private readonly database: string,
    private readonly options: { lease: string; researcher: string; workers?: number },
  ) {}

  /** Starts one; resolves when it is ready. A port of 0 is any. */
  async add(role: Role, port = 0): Promise<Member> {
    const { lease, researcher, workers = 4 } = this.options;
    const flags = { role, port, lease, researcher, workers };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const env = { RESEARCH_SERVE_API_KEY: KEY, RESEARCH_SERVE_DATABASE: this.database };
    const process = start(["serve", ...args], { env, timeoutMs: 2 ** 30 });
    const [baseUrl = ""] = await process.waitFor(/http:\S+/, { timeoutMs: 60_000 });
    const member = { role, process, baseUrl };
    this.members.add(member);
    return member;
  }

  /** Ends one: "SIGTERM" as a deployment does, "SIGKILL" as a crash does. */
  async end(member: Member, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    member.process.signal(signal);
    await member.process.done;
    this.members.delete(member);
  }

  /** One of those that answer. */
  api(random: number): string {
    const apis = [...this.members].filter(({ role }) => role !== "worker");
    return apis[Math.floor(random * apis.length)]?.baseUrl ?? "http://127.0.0.1:1";
  }

  async close(): Promise<void> {
    await Promise.all([...this.members].map((member) => this.end(member, "SIGTERM")));
  }
}
