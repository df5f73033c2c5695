#!/usr/bin/env bash
# A researcher in bash: the lines below a folder that have the most words of the question.
#
#   research serve --researcher 'docs/examples/researchers/grep.sh docs'
#
# The question comes as one JSON object on stdin; what is printed is the output. An exit code other than 0 makes the
# conversation FAILED, with the last line of stderr as the reason. A stop sends SIGTERM to all that runs here,
# a service that ends SIGHUP.
set -euo pipefail

folder=${1:-.}
# No jq needed: the program that runs the service is Node.
prompt=$(node -e 'process.stdout.write(JSON.parse(require("fs").readFileSync(0, "utf8")).prompt)')

words=$(tr -cs '[:alnum:]' '\n' <<<"$prompt" | awk 'length > 3' | sort -u)
if [ -z "$words" ]; then
  echo "the question has no word to look for" >&2
  exit 1
fi

# The pattern names hidden folders, and not `.`, `..` or `./docs`, which a folder on the command line may be.
found=$(grep -rnIiwF --exclude-dir='.[!./]*' --exclude-dir=node_modules "$words" "$folder" | head -n 10000 || true)
if [ -z "$found" ]; then
  echo "no line in $folder speaks of this" >&2
  exit 1
fi

echo "# $prompt"
echo
# The number of different words in each line decides; the first ten are shown.
awk -v words="$words" '
  BEGIN { count = split(tolower(words), word, "\n") }
  { line = tolower($0); hits = 0; for (i = 1; i <= count; i++) hits += index(line, word[i]) > 0; print hits "\t" $0 }
' <<<"$found" | sort -t$'\t' -k1,1nr -s | head -n 10 | cut -f2- | sed 's/^/- /'
