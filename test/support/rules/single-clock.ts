const TIME = /\b(?:Date\.now|performance\.now|new Date\(\)|setTimeout|setInterval)\b|\bnew Date\(\)/g;

/** Files that may ask the machine for the time, or set a timer of it, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/core/clock.ts": "it is the clock",
  "src/core/http/send-request.ts":
    "the limits of a real exchange; virtual time passes only between exchanges",
  "src/core/http/origin-connections.ts": "real connections settle in real time",
  "src/server/http/node-server.ts": "real connections stall in real time",
  "src/server/service.ts": "real connections get real time to end",
  "src/reader/searching/folder-corpus.ts": "runs in a thread, where no clock can be handed in",
  "src/server/postgres/database.ts": "real connections to the database",
};

/** Uses of a second clock in a file, without its comments. */
export function otherClocks(path: string, code: string): string[] {
  if (path in EXCEPTIONS) return [];
  return [...code.matchAll(TIME)].map(([use]) => `uses ${use} and not the clock that is handed in`);
}
