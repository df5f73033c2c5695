import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { leftovers } from "./leftovers.js";

/** Server-sent events as they come. */
export class EventStream {
  readonly events: unknown[] = [];
  ended = false;
  private constructor(
    private readonly request: ClientRequest,
    response: IncomingMessage,
  ) {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (piece: string) => {
      text += piece;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks)
        if (block.startsWith("data: ")) this.events.push(JSON.parse(block.slice("data: ".length)));
    });
    response.on("close", () => {
      this.ended = true;
    });
    response.on("error", () => {});
    leftovers.add(() => this.close());
  }

  /** Rejects unless the answer is a stream. */
  static open(url: string, headers: Record<string, string>): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(url, { headers }, (response) => {
        const type = response.headers["content-type"];
        if (type !== "text/event-stream") reject(new Error(`${response.statusCode} ${type}`));
        else resolve(new EventStream(request, response));
      });
      request.on("error", reject);
      request.end();
    });
  }

  close(): void {
    this.request.destroy();
  }
}
