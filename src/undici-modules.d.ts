// undici's dispatchers without its fetch, websocket and cache: half the start-up of the whole package.
declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export default Agent;
}
declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export default Client;
}
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export default Pool;
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
  import { ProxyAgent } from "undici";
  export default ProxyAgent;
}
declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";
  export default buildConnector;
}
declare module "undici/lib/api/api-connect.js" {
  import { Dispatcher } from "undici";

  const connect: Dispatcher["connect"];
  export default connect;
}
declare module "undici/lib/api/api-request.js" {
  import { Dispatcher } from "undici";

  const request: Dispatcher["request"];
  export default request;
}
declare module "undici/lib/core/symbols.js" {
  const symbols: { readonly kSocket: symbol; readonly kParser: symbol };
  export default symbols;
}
