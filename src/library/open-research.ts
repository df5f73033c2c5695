import type { ResearchImplementation } from "./research-implementation.js";
import type { OpenOptions, Research } from "./types.js";

/** Opens the research command as a library. Reads nothing until the first call, which rejects if a setting is missing. */
export function openResearch(options: OpenOptions = {}): Research {
  let opened: Promise<ResearchImplementation> | undefined;
  const open = () => {
    opened ??= import("./research-implementation.js").then(({ ResearchImplementation }) =>
      ResearchImplementation.open(options),
    );
    return opened;
  };
  const addErrorCode = async (error: unknown, signal?: AbortSignal) =>
    (await import("./research-implementation.js")).convertToResearchError(error, signal);
  const call = async <T>(
    use: (opened: ResearchImplementation) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    try {
      return await use(await open());
    } catch (error) {
      throw await addErrorCode(error, signal);
    }
  };
  async function* iterateOpened<T>(
    use: (opened: ResearchImplementation) => AsyncIterable<T>,
    signal?: AbortSignal,
  ) {
    try {
      yield* use(await open());
    } catch (error) {
      throw await addErrorCode(error, signal);
    }
  }
  const close = async () => (await opened)?.close();
  return {
    submit: (request, given) => call((it) => it.submit(request, given), given?.signal),
    watch: (ids, given) => iterateOpened((it) => it.watch(ids, given), given?.signal),
    output: (id, given) => call((it) => it.output(id, given), given?.signal),
    run: (request, given) => call((it) => it.run(request, given), given?.signal),
    check: (id, given) => call((it) => it.check(id, given), given?.signal),
    stop: (ids, given) => call((it) => it.stop(ids, given), given?.signal),
    list: (given) => call((it) => it.list(given)),
    batch: (requests, given) => iterateOpened((it) => it.batch(requests, given), given.signal),
    close,
    [Symbol.asyncDispose]: close,
  };
}
