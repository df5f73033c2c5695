import { ResearchFailure } from "../researcher.js";
import type { Hit, Source, SourceProvider } from "./source.js";

/** Several sources as one. One that cannot be searched is left to the others; it says so itself in its notes. */
export function combined(providers: readonly SourceProvider[]): SourceProvider {
  return {
    for: (requestId, signal) => oneOf(providers.map((provider) => provider.for(requestId, signal))),
    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
    },
  };
}

function oneOf(sources: readonly Source[]): Source {
  return {
    async search(query, n) {
      const found = await Promise.allSettled(sources.map((source) => source.search(query, n)));
      const failures = found.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      const worse = failures.find((error) => !(error instanceof ResearchFailure));
      if (worse !== undefined) throw worse;
      if (failures.length === sources.length)
        throw new ResearchFailure(failures.map(({ message }) => message).join(" "));
      const hits = found.flatMap((one): Hit[] => (one.status === "fulfilled" ? one.value : []));
      return hits.sort((a, b) => b.score - a.score).slice(0, n);
    },
    async open(id, from, to) {
      for (const source of sources) {
        const opened = await source.open(id, from, to);
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
    async describe() {
      const all = await Promise.all(sources.map((source) => source.describe()));
      return {
        kind: all.map(({ kind }) => kind).join(" and "),
        documents: all.reduce((sum, { documents }) => sum + documents, 0),
        titles: all.flatMap(({ titles }) => titles),
        languages: [...new Set(all.flatMap(({ languages }) => languages))],
        unread: all.flatMap(({ unread }) => unread),
        notes: all.flatMap(({ notes }) => notes),
      };
    },
  };
}
