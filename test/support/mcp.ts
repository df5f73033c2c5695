import { PassThrough } from "node:stream";
import { Client, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { requireBuild } from "./build.js";
import { InProcess } from "./in-process.js";
import { leftovers } from "./leftovers.js";
import { environment, NODE, PROGRAM } from "./run.js";

/** A MCP client with the program as its server. */
export interface McpClient {
  /** The revision that both agreed on. */
  readonly revision: string | undefined;
  /** Of the built program. */
  readonly pid: number;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Called>;
  tools(): Promise<unknown[]>;
  close(): Promise<void>;
}

export interface CallOptions {
  timeout?: number;
  signal?: AbortSignal;
  onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
}

export interface Called {
  text: string;
  content: Record<string, unknown>;
  isError: boolean;
}

export interface McpOptions {
  home: string;
  env?: Readonly<Record<string, string | undefined>>;
  args?: readonly string[];
  /** Starts the built program; else the program runs in this process. */
  built?: boolean;
}

/** The program as a server in this process, at the ends of two pipes. */
class InProcessTransport {
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly pid = process.pid;
  readonly #stdin = new PassThrough();
  #program: InProcess | undefined;
  #rest = "";

  constructor(
    private readonly args: readonly string[],
    private readonly env: Record<string, string>,
  ) {}

  async start(): Promise<void> {
    const onStdout = (text: string) => this.#read(text);
    this.#program = new InProcess(this.args, { env: this.env, input: this.#stdin, onStdout });
    void this.#program.done.then(() => this.onclose?.());
  }

  async send(message: unknown): Promise<void> {
    this.#stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#stdin.end();
    await this.#program?.done;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.onmessage?.(JSON.parse(line));
  }
}

const IDENTITY = { name: "test", version: "1.0.0" };

/** Starts the server; `revision` says which client speaks: the current one, or one of the former revision. */
export async function connectMcp(
  { home, env = {}, args = [], built = false }: McpOptions,
  revision: "2026-07-28" | "2025-11-25" = "2026-07-28",
): Promise<McpClient> {
  if (built) requireBuild();
  const all = environment(home, env);
  const command = {
    ...{ command: NODE, args: [PROGRAM, "mcp", ...args] },
    ...{ env: all, cwd: home, stderr: "ignore" as const },
  };
  const inProcess = () => new InProcessTransport(["mcp", ...args], all);
  if (revision === "2025-11-25") {
    const client = new FormerClient(IDENTITY);
    const transport = built ? new FormerTransport(command) : inProcess();
    await client.connect(transport);
    leftovers.add(() => void client.close());
    // The client checks results against the schemas of the tools that it has listed.
    await client.listTools();
    return {
      revision: "2025-11-25",
      pid: transport.pid ?? 0,
      call: async (name, given, options) =>
        called(await client.callTool({ name, arguments: given }, undefined, options)),
      tools: async () => (await client.listTools()).tools,
      close: () => client.close(),
    };
  }
  const client = new Client(IDENTITY, { versionNegotiation: { mode: { pin: revision } } });
  const transport = built ? new StdioClientTransport(command) : inProcess();
  await client.connect(transport);
  leftovers.add(() => void client.close());
  return {
    revision: client.getNegotiatedProtocolVersion(),
    pid: transport.pid ?? 0,
    call: async (name, given, options) => called(await client.callTool({ name, arguments: given }, options)),
    tools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
}

function called(result: Record<string, unknown>): Called {
  const [first] = result.content as { text: string }[];
  const content = (result.structuredContent ?? {}) as { error?: { message: string } };
  if (content.error?.message.trim() === "") throw new Error("an error says nothing");
  return { text: first?.text ?? "", content, isError: result.isError === true };
}
