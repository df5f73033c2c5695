import type { GoogleGenAI } from "@google/genai";
import type Perplexity from "@perplexity-ai/perplexity_ai";
import type { Exa } from "exa-js";
import type OpenAI from "openai";
import type Parallel from "parallel-web";
export const requests = [
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"reasoning":{"effort":"high"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"text":{"format":{"type":"json_schema","name":"result","schema":{"type":"object","properties":{"answer":{"type":"string","description":"what is asked for"}},"required":["answer"],"additionalProperties":false},"strict":true}},"reasoning":{"effort":"high"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-astra","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}]} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"previous_response_id":"resp_1","reasoning":{"effort":"high"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"reasoning":{"effort":"high"},"background_options":{"completion_window":"2h"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"previous_response_id":"resp_1","background_options":{"completion_window":"8h"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"reasoning":{"effort":"high"},"tools":[{"type":"web_search","filters":{"allowed_domains":["a.example","b.example"]}}]} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":false,"tools":[{"type":"web_search"}],"reasoning":{"effort":"high"}} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"tools":[{"type":"web_search"}],"reasoning":{"effort":"medium"},"max_tool_calls":20} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"reasoning":{"effort":"high"},"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"reasoning":{"effort":"high"},"tools":[{"type":"mcp","server_label":"a","server_url":"https://a.example"}]} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"model":"gpt-6.2-sol","input":"How do tides form?","background":true,"store":true,"reasoning":{"effort":"high"},"tools":[{"type":"web_search_preview"}]} satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming,
  {"preset":"high","input":"How do tides form?","background":true} satisfies Perplexity.Responses.ResponseCreateParamsNonStreaming,
  {"preset":"high","input":"How do tides form?","background":true,"response_format":{"type":"json_schema","json_schema":{"name":"result","schema":{"type":"object","properties":{"answer":{"type":"string","description":"what is asked for"}},"required":["answer"],"additionalProperties":false},"strict":true}}} satisfies Perplexity.Responses.ResponseCreateParamsNonStreaming,
  {"preset":"xhigh","input":"How do tides form?","background":true} satisfies Perplexity.Responses.ResponseCreateParamsNonStreaming,
  {"model":"openai/gpt-6","input":"How do tides form?","background":true,"previous_response_id":"resp_1"} satisfies Perplexity.Responses.ResponseCreateParamsNonStreaming,
  {"preset":"high","input":"How do tides form?","background":true,"tools":[{"type":"web_search","filters":{"search_domain_filter":["a.example","-b.example"]}}]} satisfies Perplexity.Responses.ResponseCreateParamsNonStreaming,
  {"query":"How do tides form?","effort":"medium"} satisfies Parameters<Exa["agent"]["runs"]["create"]>[0],
  {"query":"How do tides form?","effort":"medium","outputSchema":{"type":"object","properties":{"answer":{"type":"string","description":"what is asked for"}},"required":["answer"],"additionalProperties":false}} satisfies Parameters<Exa["agent"]["runs"]["create"]>[0],
  {"query":"How do tides form?","effort":"high","previousRunId":"agent_run_1"} satisfies Parameters<Exa["agent"]["runs"]["create"]>[0],
  {"query":"How do tides form?","effort":"auto","budget":{"maxCostDollars":2}} satisfies Parameters<Exa["agent"]["runs"]["create"]>[0],
  {"input":"How do tides form?","processor":"pro","task_spec":{"output_schema":{"type":"text"}}} satisfies Parallel.TaskRunCreateParams,
  {"input":"How do tides form?","processor":"pro","task_spec":{"output_schema":{"type":"json","json_schema":{"type":"object","properties":{"answer":{"type":"string","description":"what is asked for"}},"required":["answer"],"additionalProperties":false}}}} satisfies Parallel.TaskRunCreateParams,
  {"input":"How do tides form?","processor":"pro","task_spec":{"output_schema":{"type":"auto"}}} satisfies Parallel.TaskRunCreateParams,
  {"input":"How do tides form?","processor":"ultra","task_spec":{"output_schema":{"type":"text"}}} satisfies Parallel.TaskRunCreateParams,
  {"input":"How do tides form?","processor":"pro","task_spec":{"output_schema":{"type":"text"}},"source_policy":{"include_domains":["a.example"],"exclude_domains":["b.example"]}} satisfies Parallel.TaskRunCreateParams,
  {"agent":"deep-research-preview-04-2026","input":"How do tides form?","background":true,"store":true,"agent_config":{"type":"deep-research","thinking_summaries":"none","visualization":"off"}} satisfies Parameters<GoogleGenAI["interactions"]["create"]>[0],
  {"agent":"deep-research-preview-04-2026","input":"How do tides form?","background":true,"store":true,"agent_config":{"type":"deep-research","thinking_summaries":"none","visualization":"off"},"response_format":{"type":"text","mime_type":"application/json","schema":{"type":"object","properties":{"answer":{"type":"string","description":"what is asked for"}},"required":["answer"],"additionalProperties":false}}} satisfies Parameters<GoogleGenAI["interactions"]["create"]>[0],
  {"agent":"deep-research-max-preview-04-2026","input":"How do tides form?","background":true,"store":true,"agent_config":{"type":"deep-research","thinking_summaries":"none","visualization":"off"},"previous_interaction_id":"v1_1"} satisfies Parameters<GoogleGenAI["interactions"]["create"]>[0],
];
