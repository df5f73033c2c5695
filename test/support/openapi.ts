import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import openapi from "../../openapi.yaml";

/** One request with its answer, as they were on the wire. */
export interface Exchange {
  method: string;
  /** Path and query, as in the request line. */
  path: string;
  /** Names in lower case. */
  requestHeaders: Readonly<Record<string, string | string[] | undefined>>;
  requestBody: string;
  status: number;
  responseHeaders: Readonly<Record<string, string | string[] | number | undefined>>;
  responseBody: string;
}

type Json = Record<string, unknown>;

export const description: Json = openapi;

// The description as a whole is no schema.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(description, "openapi.yaml");

const PATHS = Object.entries(description.paths as Record<string, Json>).map(([template, item]) => ({
  ...{ template, item },
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** What of a client's request openapi.yaml does not allow. */
export function checkRequest(
  exchange: Pick<Exchange, "method" | "path" | "requestHeaders" | "requestBody">,
): string[] {
  const documented = operationOf(exchange.method, exchange.path);
  if (documented === undefined) return [`${exchange.method} ${exchange.path} is no operation`];
  const { operation, pointer, parameters } = documented;
  const wrong: string[] = [];
  const needsKey = at(operation, "security") === undefined;
  if (needsKey && !/^Bearer \S+$/.test(String(exchange.requestHeaders.authorization)))
    wrong.push("no bearer token");
  for (const { name, in: place, required, schema } of parameters) {
    if (place !== "header") continue;
    const value = exchange.requestHeaders[String(name).toLowerCase()];
    if (value === undefined ? required : !fits(schema as Json, value)) wrong.push(`header ${name}: ${value}`);
  }
  if (at(operation, "requestBody") === undefined) {
    if (exchange.requestBody !== "") wrong.push(`a body where none belongs: ${exchange.requestBody}`);
    return wrong;
  }
  if (!String(exchange.requestHeaders["content-type"]).startsWith("application/json"))
    wrong.push("content type");
  if (exchange.requestBody === "" && at(operation, "requestBody", "required") !== true) return wrong;
  const schema = `${pointer}/requestBody/content/application~1json/schema`;
  return [...wrong, ...misfits(schema, exchange.requestBody)];
}

/** What of a service's answer openapi.yaml does not allow. */
export function checkResponse(exchange: Exchange): string[] {
  const documented = operationOf(exchange.method, exchange.path);
  // A path or method that is none is still answered in an envelope.
  const pointer = documented?.pointer ?? "/paths/~1api~1v1~1conversations/post";
  const key =
    documented && at(documented.operation, "responses", String(exchange.status))
      ? String(exchange.status)
      : "default";
  const place = deref(`${pointer}/responses/${key}`);
  const response = resolve(place);
  const wrong: string[] = [];
  if (key === "default" && exchange.status < 400) wrong.push(`status ${exchange.status} is not described`);
  for (const [name, header] of Object.entries((at(response, "headers") ?? {}) as Record<string, Json>)) {
    const value = exchange.responseHeaders[name.toLowerCase()];
    if (value === undefined ? header.required : !fits(header.schema as Json, value))
      wrong.push(`header ${name}: ${value}`);
  }
  const [type = ""] = Object.keys((at(response, "content") ?? {}) as Json);
  if (!String(exchange.responseHeaders["content-type"]).startsWith(type)) wrong.push("content type");
  if (exchange.method === "HEAD" || type !== "application/json") return wrong;
  return [...wrong, ...misfits(`${place}/content/application~1json/schema`, exchange.responseBody)];
}

/** Whether openapi.yaml describes it at all. */
export function isOperation(method: string, path: string): boolean {
  return operationOf(method, path) !== undefined;
}

function operationOf(method: string, target: string) {
  const path = target.replace(/\?.*$/, "");
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  for (const { template, item, pattern } of PATHS) {
    if (!pattern.test(path) || item[verb] === undefined) continue;
    const operation = item[verb] as Json;
    const all = [...((item.parameters as Json[]) ?? []), ...((operation.parameters as Json[]) ?? [])];
    const parameters = all.map((one) => (one.$ref ? (resolve(String(one.$ref).slice(1)) as Json) : one));
    return { operation, pointer: `/paths/${escaped(template)}/${verb}`, parameters };
  }
  return undefined;
}

function misfits(pointer: string, text: string): string[] {
  const validate =
    ajv.getSchema(`openapi.yaml#${pointer}`) ?? ajv.compile({ $ref: `openapi.yaml#${pointer}` });
  try {
    return validate(JSON.parse(text))
      ? []
      : (validate.errors ?? []).map((e) => `${e.instancePath} ${e.message}`);
  } catch {
    return [`not JSON: ${text.slice(0, 100)}`];
  }
}

function fits(schema: AnySchema, value: unknown): boolean {
  return ajv.validate(schema, String(value)) === true;
}

/** The pointer itself, or the one that its `$ref` leads to. */
function deref(pointer: string): string {
  const ref = at(resolve(pointer), "$ref");
  return typeof ref === "string" ? ref.slice(1) : pointer;
}

function resolve(pointer: string): unknown {
  return at(
    description,
    ...pointer
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")),
  );
}

function at(value: unknown, ...steps: string[]): unknown {
  return steps.reduce<unknown>((node, step) => (node as Json | undefined)?.[step], value);
}

function escaped(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}
