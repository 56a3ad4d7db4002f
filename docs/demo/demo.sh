#!/usr/bin/env bash
# Imports a conversation of four sessions with the facts that it states, and asks five questions.
set -euo pipefail
cd "$(dirname "$0")"

engraph="${ENGRAPH:-${CARGO_TARGET_DIR:-../../target}/release/engraph}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
db="$folder/demo.memory"

step() { printf '\n\033[1m%s\033[0m\n' "$1"; }
ask() {
  step "$1"
  printf '%s\n\n' "$2"
  "$engraph" query "$db" -e "$2" "${@:3}"
}

step 'The relations, the turns until June 2025, and the facts known by then'
"$engraph" query "$db" -f schema.memql > /dev/null
head -n 32 conversation.jsonl > "$folder/conversation.jsonl"
"$engraph" import "$db" turns "$folder/conversation.jsonl"
"$engraph" import "$db" jsonl facts_before_july.jsonl
believed_then="$("$engraph" query "$db" --format csv -e 'RETURN now() AS t' | tail -n 1)"

step 'What was said since July, with the turns of before, which are held: a move, a new job, a correction'
"$engraph" import "$db" turns conversation.jsonl
"$engraph" import "$db" jsonl facts_since_july.jsonl

ask '1. Where does Nora live, and where does she work?' \
"MATCH (:Person 'Nora')-[f:lives_in|works_at]->(place)
RETURN place.key AS place, type(f) AS fact, f.valid_from AS since, f.confidence;"

ask '2. And on 1 May 2024?' \
"MATCH (:Person 'Nora')-[f:lives_in|works_at]->(place)
FOR VALID_TIME AS OF DATE '2024-05-01'
RETURN place.key AS place, type(f) AS fact, f.valid_from AS since, f.valid_to AS until;"

ask '3. Where was her sister believed to live before July, and where now?' \
"MATCH (:Person 'Inês')-[f:lives_in]->(c:Place)
FOR SYSTEM_TIME AS OF \$believed_then
RETURN c.key AS believed_then, f.confidence, f.sources;" --param "believed_then=$believed_then"
"$engraph" query "$db" -e \
"MATCH (:Person 'Inês')-[f:lives_in]->(c:Place)
RETURN c.key AS believed_now, f.confidence, f.sources;"

ask '4. Which cities has Nora lived in?' \
"MATCH p = (:Person 'Nora')-[f:lives_in]->(:Place)
FOR VALID_TIME ALL
RETURN p ORDER BY f.valid_from;"

question='Who founded the studio where Nora teaches?'
ask "5. $question (a beam of five over three hops, by meaning)" \
"MATCH BEAM 5 p = (:Person 'Nora')-[f]->{1,3}(answer:Person)
FOR VALID_TIME AS OF DATE '2025-10-19'
SCORE BY similarity(p, \$question)
RETURN answer.key AS answer, round(score * 1000) / 1000 AS score, p LIMIT 3;" \
  --param "question=$question"

step 'And the turns that speak of it, by meaning'
"$engraph" query "$db" --param "question=$question" -e \
"SEARCH t:Turn FOR \$question BY VECTOR TOP 3
RETURN t.key AS turn, t.speaker AS speaker, t.text AS text;"
