import type { LimitOptions } from "../../../machine/machine.js";

/** The flags of `mcp`. */
export interface McpOptions extends LimitOptions {
  readOnly?: boolean;
  maxCreates?: number;
  allowDir?: string;
  printConfig?: boolean;
}
