import { minifySync } from "rolldown/utils";

/**
 * A rolldown plugin that minifies chunks: wholly those which are packages for nine parts of ten. A chunk of ours keeps its
 * lines and the names of its functions: a user sends a stack trace.
 * @returns {import("rolldown").Plugin}
 */
export function minifyChunks() {
  return {
    name: "minify-chunks",
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === "chunk") chunk.code = minified(chunk, isOfPackages(chunk));
    },
  };
}

/** @param {import("rolldown").OutputChunk} chunk */
function isOfPackages({ code, modules }) {
  const ours = Object.entries(modules).filter(([id]) => !id.includes("/node_modules/"));
  return ours.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0) <= code.length / 10;
}

/**
 * @param {import("rolldown").OutputChunk} chunk
 * @param {boolean} isWhole
 */
function minified({ fileName, code }, isWhole) {
  const result = minifySync(fileName, code, {
    module: true,
    compress: { target: "node20" },
    mangle: isWhole || { toplevel: false, keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: isWhole },
  });
  const [error] = result.errors;
  if (error) throw new Error(`${fileName} could not be minified: ${error.message}`);
  // The sources are indented by spaces, so that no text of theirs begins a line with a tab.
  return isWhole ? result.code : result.code.replace(/^\t+/gm, "");
}
