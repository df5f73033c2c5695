/** What a researcher keeps of its exchanges with a model, so that a restarted service pays for none of them twice. */
export interface ExchangeStore {
  /** The records of a conversation, in their order; empty if there are none. */
  read(requestId: string): Promise<unknown[]>;
  /** Adds a JSON object. Resolves when it would outlive a `kill -9`; of a stopped conversation nothing is kept (§3). */
  append(requestId: string, record: object): Promise<void>;
}
