// Types of undici's modules for dispatchers. Without fetch, WebSocket and cache, they load in half the time of the whole package.
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
declare module "undici/lib/api/api-connect.js" {
  const connect: import("undici").Dispatcher["connect"];
  export default connect;
}
declare module "undici/lib/api/api-request.js" {
  const request: import("undici").Dispatcher["request"];
  export default request;
}
declare module "undici/lib/core/symbols.js" {
  const symbols: { readonly kSocket: symbol; readonly kParser: symbol };
  export default symbols;
}
