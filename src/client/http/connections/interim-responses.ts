import type { Dispatcher } from "undici";
import { symbols } from "../../../undici.js";

/** The parts of undici's HTTP/1 parser that are used here, for each connection (client-h1.js). */
interface Parser {
  onHeadersComplete(statusCode: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

/**
 * Makes a dispatcher ignore a `100 Continue` that it did not ask for. RFC 9110 §15.2 demands that, curl does it,
 * and undici ends the connection (nodejs/undici, client-h1.js: "bad response"), although it ignores every other
 * interim response: so a 100 is reported to it as a 102.
 */
export function acceptContinue<T extends Dispatcher>(dispatcher: T): T {
  dispatcher.on("connect", (_origin, targets) => {
    const parser = parserOf(targets.at(-1));
    if (!parser) return;
    const { onHeadersComplete } = parser;
    parser.onHeadersComplete = (statusCode, ...rest) =>
      onHeadersComplete.call(parser, statusCode === 100 ? 102 : statusCode, ...rest);
  });
  return dispatcher;
}

function parserOf(client: object | undefined): Parser | undefined {
  const socket: object | undefined = client && Reflect.get(client, symbols.kSocket);
  return socket && Reflect.get(socket, symbols.kParser);
}
