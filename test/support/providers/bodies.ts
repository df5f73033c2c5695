import { Ajv } from "ajv";

/** The schemas of create bodies, from the types and pages that `providers.md` names: what is sent has to fit. */
const TEXT = { type: "string", minLength: 1 };
const FLAG = { type: "boolean" };
const OBJECT = { type: "object" };
const METADATA = {
  type: "object",
  maxProperties: 16,
  additionalProperties: { type: "string", maxLength: 512 },
};

const responses = {
  input: TEXT,
  background: { const: true },
  previous_response_id: TEXT,
  metadata: METADATA,
  max_output_tokens: { type: "integer", minimum: 1 },
  max_tool_calls: { type: "integer", minimum: 1 },
  reasoning: { type: "object", properties: { effort: TEXT }, additionalProperties: true },
  service_tier: { enum: ["auto", "default", "flex", "priority"] },
  include: { type: "array", items: TEXT },
};
const namedSchema = {
  type: "object",
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
    schema: OBJECT,
    strict: FLAG,
  },
  required: ["name", "schema"],
};

export const BODIES = {
  openai: {
    type: "object",
    properties: {
      ...responses,
      model: TEXT,
      store: FLAG,
      background_options: {
        type: "object",
        properties: { completion_window: TEXT },
        required: ["completion_window"],
        additionalProperties: false,
      },
      tools: { type: "array", items: { type: "object", properties: { type: TEXT }, required: ["type"] } },
      text: {
        type: "object",
        properties: {
          format: {
            ...namedSchema,
            properties: { ...namedSchema.properties, type: { const: "json_schema" } },
            required: ["type", "name", "schema"],
          },
        },
        required: ["format"],
        additionalProperties: false,
      },
    },
    required: ["model", "input", "background", "store"],
    additionalProperties: false,
  },
  perplexity: {
    type: "object",
    properties: {
      ...responses,
      model: { type: "string", pattern: "/" },
      preset: TEXT,
      effort: TEXT,
      models: { type: "array", items: TEXT, maxItems: 5 },
      max_steps: { type: "integer" },
      language_preference: TEXT,
      tools: {
        type: "array",
        items: {
          type: "object",
          properties: {
            type: TEXT,
            filters: {
              type: "object",
              properties: { search_domain_filter: { type: "array", items: TEXT } },
              additionalProperties: false,
            },
          },
          required: ["type"],
          additionalProperties: false,
        },
      },
      response_format: {
        type: "object",
        properties: { type: { const: "json_schema" }, json_schema: namedSchema },
        required: ["type", "json_schema"],
        additionalProperties: false,
      },
    },
    required: ["input", "background"],
    anyOf: [
      { required: ["model"] },
      { required: ["preset"] },
      { required: ["models"] },
      { required: ["effort"] },
    ],
    not: { required: ["preset", "effort"] },
    additionalProperties: false,
  },
  exa: {
    type: "object",
    properties: {
      query: TEXT,
      effort: { enum: ["minimal", "low", "medium", "high", "xhigh", "auto", "ultra", "max"] },
      outputSchema: OBJECT,
      budget: OBJECT,
      previousRunId: { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,200}$" },
      systemPrompt: TEXT,
      metadata: METADATA,
      dataSources: { type: "array" },
    },
    required: ["query"],
    additionalProperties: false,
  },
  parallel: {
    type: "object",
    properties: {
      input: TEXT,
      processor: {
        type: "string",
        pattern: "^(?:lite|base|core|core2x|pro|ultra|ultra2x|ultra4x|ultra8x)(?:-fast)?$",
      },
      task_spec: {
        type: "object",
        properties: {
          output_schema: {
            oneOf: [
              {
                type: "object",
                properties: { type: { const: "json" }, json_schema: OBJECT },
                required: ["type", "json_schema"],
                additionalProperties: false,
              },
              {
                type: "object",
                properties: { type: { enum: ["text", "auto"] }, description: TEXT },
                required: ["type"],
                additionalProperties: false,
              },
            ],
          },
        },
        required: ["output_schema"],
        additionalProperties: false,
      },
      previous_interaction_id: TEXT,
      source_policy: OBJECT,
      metadata: METADATA,
    },
    required: ["input", "processor"],
    additionalProperties: false,
  },
  gemini: {
    type: "object",
    properties: {
      agent: TEXT,
      input: TEXT,
      background: { const: true },
      store: { const: true },
      agent_config: { type: "object", properties: { type: { const: "deep-research" } }, required: ["type"] },
      previous_interaction_id: TEXT,
      response_format: {
        type: "object",
        properties: { type: { const: "text" }, mime_type: { const: "application/json" }, schema: OBJECT },
        required: ["type", "mime_type", "schema"],
        additionalProperties: false,
      },
      tools: { type: "array" },
      system_instruction: TEXT,
      labels: OBJECT,
    },
    required: ["agent", "input", "background", "store"],
    additionalProperties: false,
  },
  tavily: {
    type: "object",
    properties: {
      input: TEXT,
      model: { enum: ["mini", "pro", "auto"] },
      output_schema: {
        type: "object",
        properties: {
          properties: {
            type: "object",
            additionalProperties: {
              type: "object",
              properties: {
                type: { enum: ["object", "string", "integer", "number", "array"] },
                description: TEXT,
              },
              required: ["type", "description"],
            },
          },
          required: { type: "array", items: TEXT, minItems: 1 },
        },
        required: ["properties", "required"],
      },
      citation_format: { enum: ["numbered", "mla", "apa", "chicago"] },
      output_length: { enum: ["short", "standard", "long"] },
      include_domains: { type: "array", items: TEXT },
      exclude_domains: { type: "array", items: TEXT },
    },
    required: ["input"],
    additionalProperties: false,
  },
} as const;

export type ProviderName = keyof typeof BODIES;

const ajv = new Ajv({ strict: false });

/** Why a provider would refuse this create body; undefined if it would not. */
export function bodyProblem(provider: ProviderName, body: unknown): string | undefined {
  return ajv.validate(BODIES[provider], body) ? undefined : ajv.errorsText();
}
