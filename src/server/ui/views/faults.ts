import { escapeHtml } from "../../../markdown/html/escape.js";
import { type Fault, faultText } from "../../http/faults/fault.js";

/** The faults that may still befall a request at this process. */
export function faultsHtml(faults: readonly { fault: Fault; seen: number }[]): string {
  const title = "<h2>Faults in force</h2>";
  if (faults.length === 0) return `${title}\n<p class="none">None.</p>`;
  const items = faults.map(({ fault, seen }) => {
    const counted = `${seen} ${seen === 1 ? "request" : "requests"} seen`;
    return `<li><code>${escapeHtml(faultText(fault))}</code> <span class="soft">${counted}</span></li>`;
  });
  return `${title}\n<ul class="faults">\n${items.join("\n")}\n</ul>`;
}
