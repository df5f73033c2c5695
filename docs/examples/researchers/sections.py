#!/usr/bin/env python3
"""A researcher in Python: the section of the Markdown files below a folder whose words fit the question best.

  research serve --researcher 'python3 docs/examples/researchers/sections.py docs'

The question comes as one JSON object on stdin; what is printed is the output. With structured output it has to be
JSON, and the service checks it against the schema: this one gives {"file", "line", "heading", "text"}. An exit code
other than 0 makes the conversation FAILED, with the last line of stderr as the reason.
"""

import json
import re
import sys
from pathlib import Path


def words(text):
    return set(re.findall(r"\w{4,}", text.lower()))


def sections(folder):
    """Each section as (file, line of its heading, heading, text)."""
    for path in sorted(Path(folder).rglob("*.md")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        heading, start, body = path.stem, 1, []
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            match = re.match(r"#+\s+(.*)", line)
            if match is None:
                body.append(line)
                continue
            yield str(path), start, heading, "\n".join(body).strip()
            heading, start, body = match[1], number, []
        yield str(path), start, heading, "\n".join(body).strip()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    job = json.load(sys.stdin)
    asked = words(job["prompt"])
    # A word of a heading says more than one of the text below it.
    scored = [(2 * len(asked & words(heading)) + len(asked & words(text)), file, line, heading, text)
              for file, line, heading, text in sections(folder) if text]
    score, file, line, heading, text = max(scored, key=lambda found: found[0], default=(0, "", 0, "", ""))
    if score == 0:
        sys.exit(f"no section below {folder} speaks of this")
    if job["structured_output"]:
        json.dump({"file": file, "line": line, "heading": heading, "text": text}, sys.stdout)
    else:
        print(f"# {job['prompt']}\n\n{text}\n\n`{file}:{line}`")


main()
