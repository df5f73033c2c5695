import type { LimitOptions, ProfileAccount } from "../app/profile-account.js";
import { type AccountQuota, readQuota } from "../app/read-quota.js";
import { requireConnection } from "../app/resolve-settings.js";
import { CreateOnce } from "../client/workflows/create-once.js";

export interface ToolSessionOptions extends LimitOptions {
  maxCreates?: number;
  allowedFolder?: string | undefined;
}

/** What the tools share while the server runs. */
export class ToolSession {
  readonly creates: CreateOnce;
  readonly allowedFolder: string | undefined;
  /** By path: the id of the request whose result will be written there. */
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

  /** Returns the account, with a base URL and a key. As long as one is missing, reads the settings again for each call. Throws CodedError. */
  requireConnected(): ProfileAccount {
    const { current } = this;
    requireConnection(current.settings);
    this.#configured = current;
    return current;
  }

  /** Returns the account, possibly without a base URL or a key. */
  get current(): ProfileAccount {
    return this.#configured ?? this.account.reopen();
  }

  limit(): number | undefined {
    return this.requireConnected().getHourlyLimit(this.options);
  }

  readQuota(): AccountQuota {
    return readQuota(this.requireConnected(), this.options);
  }

  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborts pending calls. A create request still gets time to receive its id (the client's grace period). */
  async close(reason: unknown): Promise<void> {
    this.#ending.abort(reason);
    await this.creates.waitUntilSettled();
    await this.#configured?.close();
  }
}
