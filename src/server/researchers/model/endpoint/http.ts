import type { Dispatcher } from "undici";

/** One POST. */
export interface PostRequest {
  /** Scheme, host and port. */
  origin: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Gets the answer as it comes. */
export interface AnswerReader {
  head(status: number, headers: ResponseHeaders): void;
  /** Says whether the rest is wanted too. */
  data(piece: Uint8Array): boolean;
}

/** How an exchange ended. */
export interface PostResult {
  /** Whether the answer came whole, or as much of it as was wanted. */
  isWhole: boolean;
  /** Why it did not come whole. */
  message?: string;
}

/**
 * Sends a POST and hands over the answer piece by piece. Follows no redirect, repeats nothing and has no time limit
 * of its own. Rejects with `signal.reason` on an abort, which closes the socket at once.
 */
export function post(
  dispatcher: Dispatcher,
  request: PostRequest,
  reader: AnswerReader,
  signal: AbortSignal,
): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", abort);
      settle();
    };
    const close = () => controller?.abort(new Error("the rest is not wanted"));
    const abort = () => {
      end(() => reject(signal.reason));
      close();
    };
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    // A model may think for longer than the five minutes that undici gives the headers by default.
    const options = { ...request, headersTimeout: 0, bodyTimeout: 0 } as const;
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (isOver) close();
      },
      onResponseStart(_controller, status, headers) {
        if (!isOver) reader.head(status, headers);
      },
      onResponseData(_controller, piece) {
        if (isOver || reader.data(piece)) return;
        end(() => resolve({ isWhole: true }));
        close();
      },
      onResponseEnd() {
        end(() => resolve({ isWhole: true }));
      },
      onResponseError(_controller, error) {
        end(() => resolve({ isWhole: false, message: sentenceOf(error) }));
      },
    });
  });
}

/** A failed connection to several addresses has its reason in the parts only. */
function sentenceOf(error: Error): string {
  const inner = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message || (inner instanceof Error ? inner.message : "") || error.name;
}
