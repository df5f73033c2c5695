import { randomUUID } from "node:crypto";
import { clientUpstream } from "../../src/cli/commands/serve/upstream.js";
import { ResearchClient } from "../../src/client/client.js";
import type { Dialect } from "../../src/dialects/dialect.js";
import { research } from "../../src/dialects/research.js";
import type { Outcome } from "../../src/server/conversations/conversation-store.js";
import { openLocalStore } from "../../src/server/conversations/local/open-local-store.js";
import type { ResearchJob } from "../../src/server/researchers/researcher.js";
import { type Upstream, upstreamResearcher } from "../../src/server/researchers/upstream.js";
import { startService } from "../../src/server/service.js";
import type { VirtualClock } from "./virtual-clock.js";

export type UpstreamServiceOptions = { dataDir: string; clock: VirtualClock } & (
  | { upstream: Upstream }
  /** A service that does the research, over HTTP. */
  | { url: string; apiKey: string; dialect?: Dialect }
);

const CALLER = { keyId: "k", limits: { create: Infinity, stop: Infinity }, ownOnly: false };

/** A service in this process, in virtual time, that has another one do the research. Its store is asked directly. */
export async function upstreamService({ dataDir, clock, ...there }: UpstreamServiceOptions) {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const store = await openLocalStore({ pendingMs: 0, dataDir, clock, log });
  const overHttp = ({ url, apiKey, dialect = research() }: Extract<typeof there, { url: string }>) => {
    const client = new ResearchClient({ baseUrl: url, apiKey, dialect, clock, random: () => 0.5 });
    return clientUpstream({ ...{ client, dialect, provider: "there", asked: (body) => body, clock, log } });
  };
  const upstream = "upstream" in there ? there.upstream : overHttp(there);
  const researcher = upstreamResearcher({ upstream, remote: store.remote, clock, log });
  const service = await startService({
    ...{ host: "127.0.0.1", port: 0, apiKey: "test-key-0123456789", tier: "enterprise", store },
    ...{ processingMs: 0, workers: 1_000, researcher, allowHosts: [], faults: [], version: "0.0.0" },
    ...{ clock, log },
  });
  return {
    service,
    store,
    log: lines,
    /** Creates a conversation, and returns its id. */
    async create(prompt: string, schema?: Record<string, unknown>): Promise<string> {
      const job: ResearchJob = { request_id: randomUUID(), prompt, structured_output: schema !== undefined };
      if (schema !== undefined) job.output_schema = schema;
      await store.create(CALLER, job);
      return job.request_id;
    },
    stop: (id: string) => store.stop(CALLER, id),
    /** Its state and what it came to, as soon as it has ended. */
    async ended(
      id: string,
    ): Promise<{ status: Outcome["status"] | "STOPPED"; output?: string; reason?: string }> {
      for (;;) {
        const found = await store.output(CALLER, id);
        if (found?.conversation.endedAt !== undefined)
          return {
            ...found.conversation,
            ...(found.output !== undefined && { output: found.output }),
          } as never;
        await clock.sleep(500);
      }
    },
  };
}
