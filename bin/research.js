#!/usr/bin/env node
// Names the Node.js that is needed if an older one runs this. It is CommonJS in ES5 (package.json beside it), which
// every Node.js can read, and it loads nothing before it has looked.
var version = process.versions.node;
var parts = version.split(".").map(Number);
if (Number(parts[0]) >= 21 || (parts[0] === 20 && Number(parts[1]) >= 19)) require("./process.js");
else refuse("research needs Node.js 20.19 or later; this is ".concat(version, " (", process.execPath, ")"));

/** @param {string} message */
function refuse(message) {
  var hint = "Get it from https://nodejs.org/.";
  var error = { code: "INTERNAL", message: message, exit_code: 1, hint: hint };
  var isJson = process.argv.indexOf("--json") > 0 || process.env.RESEARCH_OUTPUT === "json";
  var text = isJson ? JSON.stringify({ error: error }) : "error: ".concat(message, "\nhint: ", hint);
  process.stderr.write(text.concat("\n"));
  process.exitCode = 1;
}
