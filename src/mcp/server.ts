import { pipeline, type Readable, type Writable } from "node:stream";
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { callTool, described, offered } from "./call-tool.js";
import { ExactSchemas } from "./exact-schemas.js";
import type { Call, Session } from "./tool.js";

export interface ServerOptions {
  version: string;
  /** What a client is told of the server as a whole. */
  instructions: string;
  readOnly: boolean;
  stdin: Readable;
  stdout: Writable;
}

/**
 * The largest message that is read, in bytes: a prompt and a schema of 1 MiB each, every byte of them escaped as six.
 * After a larger one the connection ends.
 */
const MOST_MESSAGE_BYTES = 16 << 20;

/**
 * Speaks the Model Context Protocol on a pair of streams until the input ends or `signal` is aborted. Resolves then;
 * calls that are under way have been cancelled.
 */
export async function serve(session: Session, options: ServerOptions, signal: AbortSignal): Promise<void> {
  const { stdin, stdout } = options;
  const schemas = new ExactSchemas();
  // An end of stdin and an error of it both end the loop that reads it.
  pipeline(stdin, schemas, () => {});
  const transport = new StdioServerTransport(schemas, stdout, { maxBufferSize: MOST_MESSAGE_BYTES });
  const handle = serveStdio(() => serverFor(session, schemas, options), { transport });
  const closeOfSdk = transport.onclose;
  await new Promise<void>((resolve) => {
    transport.onclose = () => {
      closeOfSdk?.();
      // Ends stdin, too: read on, it would keep the process alive.
      schemas.destroy();
      resolve();
    };
    const stop = () => void handle.close().finally(resolve);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}

function serverFor(
  session: Session,
  schemas: ExactSchemas,
  { version, instructions, readOnly }: ServerOptions,
): Server {
  const tools = offered(readOnly);
  // The client's answers to questions are never asked for, so nothing of theirs is checked.
  const jsonSchemaValidator = {
    getValidator: () => {
      throw new TypeError("no schema is checked by the SDK");
    },
  };
  const server = new Server(
    { name: "research", title: "Deep research", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler("tools/list", () => ({ tools: tools.map((tool) => described(tool, session)) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool: ${params.name}`);
    const token = mcpReq._meta?.progressToken;
    const progress: Call["progress"] =
      token === undefined
        ? undefined
        : (done, total, message) =>
            mcpReq.notify({
              method: "notifications/progress",
              params: { progressToken: token, progress: done, total, message },
            });
    const result = await callTool(tool, session, schemas.restore(mcpReq.id, params.arguments), {
      signal: mcpReq.signal,
      progress,
    });
    if ("problem" in result)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${tool.name}: ${result.problem}`);
    return result;
  });
  return server;
}
