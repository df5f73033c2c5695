import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { leftovers } from "./leftovers.js";

/** Listens on a free port of this machine, which it returns, until the test file is done at the latest. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  // A test on a busy machine may take longer between two requests than Node keeps an idle connection.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  leftovers.add(() => {
    server.close();
    (server as Partial<HttpServer>).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}
