import type { LimitOptions, ProfileAccount } from "../app/account.js";
import { type AccountQuota, readAccountQuota } from "../app/quota.js";
import { requireConnection } from "../app/settings.js";
import { CreateOnce } from "../client/workflows/create-once.js";

export interface ToolSessionOptions extends LimitOptions {
  maxCreates?: number;
  allowedFolder?: string | undefined;
}

/** The state that the tools share while the server runs. */
export class ToolSession {
  readonly creates: CreateOnce;
  readonly allowedFolder: string | undefined;
  /** The paths to write when a request ends, each with its request. */
  readonly awaited = new Map<string, string>();
  readonly #ending = new AbortController();
  #configured: ProfileAccount | undefined;

  constructor(
    private readonly account: ProfileAccount,
    private readonly options: ToolSessionOptions,
  ) {
    this.creates = new CreateOnce(options.maxCreates);
    this.allowedFolder = options.allowedFolder;
  }

  /** Returns the account, which has a base URL and a key. Until there are both, settings are read again for each call. Throws what is missing. */
  requireConnected(): ProfileAccount {
    const { current } = this;
    requireConnection(current.settings);
    this.#configured = current;
    return current;
  }

  /** Returns the account, which may lack a base URL and a key. */
  get current(): ProfileAccount {
    return this.#configured ?? this.account.reopen();
  }

  limit(): number | undefined {
    return this.requireConnected().getHourlyLimit(this.options);
  }

  readQuota(): AccountQuota {
    return readAccountQuota(this.requireConnected(), this.options);
  }

  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends pending calls; a pending create gets time to receive its id (the client's grace period). */
  async close(reason: unknown): Promise<void> {
    this.#ending.abort(reason);
    await this.creates.waitUntilSettled();
    await this.#configured?.close();
  }
}
