import type { OpenOptions, Research } from "./types.js";

/**
 * The research command as a library, with the settings and the history of this machine. Nothing is read or opened
 * before the first call, which rejects if a setting is missing.
 */
export function openResearch(options: OpenOptions = {}): Research {
  let opened: Promise<Research & { close(): Promise<void> }> | undefined;
  const open = () => {
    opened ??= import("./machine-research.js").then(({ MachineResearch }) => MachineResearch.open(options));
    return opened;
  };
  return {
    submit: async (...args) => (await open()).submit(...args),
    async *watch(...args) {
      yield* (await open()).watch(...args);
    },
    output: async (id, given) => (await open()).output(id, given),
    run: async (request, given) => (await open()).run(request, given),
    stop: async (...args) => (await open()).stop(...args),
    list: async (...args) => (await open()).list(...args),
    async *batch(...args) {
      yield* (await open()).batch(...args);
    },
    close: async () => (await opened)?.close(),
  };
}
