import type { Clock } from "../../../clock.js";
import type { ResearchJob } from "../../researchers/researcher.js";
import type { HourlyCount, ListedConversation, Overview } from "../overview.js";
import type { Contents } from "./contents.js";
import type { LocalState, Row } from "./local-state.js";

/** What the local store shows of all keys. */
export class LocalOverview implements Overview {
  constructor(private readonly parts: { state: LocalState; contents: Contents; clock: Clock }) {}

  async states() {
    const states = { PENDING: 0, PROCESSING: 0, COMPLETED: 0, FAILED: 0, STOPPED: 0 };
    for (const { status } of this.parts.state.rows.values()) states[status] += 1;
    return states;
  }

  async newest(limit: number) {
    const { state, clock } = this.parts;
    // The rows stand in the order in which they were created.
    const rows = [...state.rows.values()].slice(-limit);
    return { at: clock.now(), conversations: rows.reverse().map(listed) };
  }

  async find(requestId: string) {
    const row = this.parts.state.rows.get(requestId);
    return row && { at: this.parts.clock.now(), conversation: listed(row) };
  }

  async job(requestId: string): Promise<ResearchJob | undefined> {
    const row = this.parts.state.rows.get(requestId);
    if (row === undefined) return undefined;
    const { contents } = this.parts;
    return (await contents.jobOf(row)) ?? contents.endedJobOf(row);
  }

  async hours() {
    const at = this.parts.clock.now();
    const counts = new Map<string, HourlyCount & { times: number[] }>();
    for (const { operation, key: keyId, at: time } of this.parts.state.counted(at)) {
      const name = `${operation} ${keyId}`;
      const count = counts.get(name) ?? { keyId, operation, times: [] };
      count.times.push(time);
      counts.set(name, count);
    }
    return { at, counts: [...counts.values()] };
  }
}

function listed({ key: keyId, line: _, remote: __, ...conversation }: Row): ListedConversation {
  return { keyId, ...conversation };
}
