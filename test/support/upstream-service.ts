import { randomUUID } from "node:crypto";
import { ResearchClient } from "../../src/client/calls/research-client.js";
import type { Dialect } from "../../src/client/dialects/dialect.js";
import { createInterfaceDialect } from "../../src/client/dialects/research-interface.js";
import type { ResearchJob } from "../../src/core/researcher.js";
import { createUpstreamAdapter } from "../../src/researchers/upstream-adapter.js";
import { createUpstreamResearcher, type Upstream } from "../../src/researchers/upstream-researcher.js";
import type { Outcome } from "../../src/server/conversations/conversation-store.js";
import { openLocalStore } from "../../src/server/conversations/local/open-local-store.js";
import { startService } from "../../src/server/service.js";
import type { VirtualClock } from "./virtual-clock.js";

export type UpstreamServiceOptions = { dataDir: string; clock: VirtualClock; atOnce?: number } & (
  | { upstream: Upstream }
  /** A service that does the research, over HTTP. */
  | { url: string; apiKey: string; dialect?: Dialect; day?: Upstream["day"] }
);

const CALLER = { keyId: "k", limits: { create: Infinity, stop: Infinity }, ownOnly: false };

/** A service in this process, in virtual time, that has another one do the research. Its store is asked directly. */
export async function upstreamService({ dataDir, clock, atOnce = 1_000, ...there }: UpstreamServiceOptions) {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const store = await openLocalStore({ pendingMs: 0, dataDir, clock, log });
  const overHttp = ({
    url,
    apiKey,
    dialect = createInterfaceDialect(),
    day,
  }: Extract<typeof there, { url: string }>) => {
    const client = new ResearchClient({ baseUrl: url, apiKey, dialect, clock, random: () => 0.5 });
    return createUpstreamAdapter({
      ...{
        client,
        dialect,
        provider: "there",
        model: undefined,
        saysDollars: true,
        asked: (body) => body,
        clock,
        log,
        ...(day && { day }),
      },
    });
  };
  const upstream = "upstream" in there ? there.upstream : overHttp(there);
  const researcher = createUpstreamResearcher({ upstream, remote: store.remote, atOnce, clock, log });
  const service = await startService({
    ...{ host: "127.0.0.1", port: 0, apiKey: "test-key-0123456789", tier: "enterprise", store },
    ...{ processingMs: 0, workers: atOnce, researcher, allowHosts: [], version: "0.0.0" },
    ...{ clock, log },
  });
  return {
    service,
    store,
    log: lines,
    /** Creates a conversation, and returns its id. */
    async create(prompt: string, schema?: Record<string, unknown>, keyId = CALLER.keyId): Promise<string> {
      const job: ResearchJob = { request_id: randomUUID(), prompt, structured_output: schema !== undefined };
      if (schema !== undefined) job.output_schema = schema;
      await store.create({ ...CALLER, keyId }, job);
      return job.request_id;
    },
    stop: (id: string) => store.stop(CALLER, id),
    /** Its state and what it came to, as soon as it has ended. */
    async ended(
      id: string,
    ): Promise<{ status: Outcome["status"] | "STOPPED"; output?: string; reason?: string }> {
      for (;;) {
        const record = await store.output(CALLER, id);
        if (record?.conversation.endedAt !== undefined)
          return {
            ...record.conversation,
            ...(record.output !== undefined && { output: record.output }),
          } as never;
        await clock.sleep(500);
      }
    },
  };
}
