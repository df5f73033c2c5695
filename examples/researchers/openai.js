#!/usr/bin/env node
// A researcher that asks any OpenAI-compatible endpoint (a hosted model, or one on this machine).
//
//   export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=llama3.2
//   research serve --researcher 'node examples/researchers/openai.js'
//
// OPENAI_API_KEY is sent where it is set. The service checks a structured result against the schema itself; a
// result that does not fit makes the conversation FAILED.
import { text } from "node:stream/consumers";

const { prompt, structured_output, output_schema } = JSON.parse(await text(process.stdin));
const { OPENAI_BASE_URL = "https://api.openai.com/v1", OPENAI_MODEL, OPENAI_API_KEY } = process.env;

/** @param {string} reason the last line on stderr is what the client reads */
function fail(reason) {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}

/** How the endpoint is told to answer in JSON, where that is wanted. */
function format() {
  if (!structured_output) return {};
  if (output_schema === undefined) return { response_format: { type: "json_object" } };
  const json_schema = { name: "result", schema: output_schema };
  return { response_format: { type: "json_schema", json_schema } };
}

async function research() {
  const system = structured_output
    ? "Research the question. Answer with one JSON value and nothing else."
    : "Research the question. Answer in Markdown and name your sources.";
  const response = await fetch(`${OPENAI_BASE_URL.replace(/\/+$/, "")}/chat/completions`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(OPENAI_API_KEY ? { Authorization: `Bearer ${OPENAI_API_KEY}` } : {}),
    },
    body: JSON.stringify({
      model: OPENAI_MODEL,
      messages: [
        { role: "system", content: system },
        { role: "user", content: prompt },
      ],
      ...format(),
    }),
  });
  if (!response.ok) return fail(`the endpoint answered ${response.status}`);
  /** @type {unknown} */
  const answer = await response.json();
  const { choices } = /** @type {{ choices?: { message?: { content?: unknown } }[] }} */ (answer);
  const content = choices?.[0]?.message?.content;
  if (typeof content !== "string") return fail("the endpoint's answer has no message");
  process.stdout.write(content);
}

if (OPENAI_MODEL === undefined) fail("OPENAI_MODEL is not set");
else
  await research().catch((error) =>
    fail(`the endpoint could not be asked: ${error.cause?.code ?? error.message}`),
  );
