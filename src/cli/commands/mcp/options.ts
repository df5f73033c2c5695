import type { QuotaOptions } from "../../requests/quota.js";

/** The flags of `mcp`. */
export interface McpOptions extends QuotaOptions {
  readOnly?: boolean;
  maxCreates?: number;
  allowDir?: string;
  printConfig?: boolean;
}
