/** §2: what an envelope of success holds, as the service gave it; unknown fields survive. */
export type Data = Record<string, unknown>;
