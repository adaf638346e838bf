#!/bin/sh
# curl against a live server: sh tests/clients/curl_client.sh http://127.0.0.1:8000 MODEL QUESTION [KEY]
# Says what it tried; ends with 1 at the first thing that is wrong.
set -eu
url=$1 model=$2 question=$3 key=${4:-none}
ask() { curl --silent --show-error --max-time 300 --header "Authorization: Bearer $key" --header 'Content-Type: application/json' "$@"; }
code() { ask --output /dev/null --write-out '%{http_code}' "$@"; }
must() { case $2 in $3) echo "ok   $1" ;; *) echo "FAIL $1: $2" && exit 1 ;; esac }
query="{\"question\": \"$question\", \"collection\": \"$model\"}"
chat="{\"model\": \"$model\", \"messages\": [{\"role\": \"user\", \"content\": \"$question\"}]"

must 'livez' "$(ask "$url/livez")" '*live*'
must 'readyz' "$(ask "$url/readyz")" '*ready*'
must 'query' "$(ask "$url/v1/query" --data "$query")" '*"answers":*"sources":*'
streamed=$(ask --no-buffer "$url/v1/query" --data "${query%\}}, \"stream\": true, \"verify\": true}")
must 'query streamed: sources, text, answers, verdicts, done' "$(echo "$streamed" | grep '^event: ' | uniq | tr -d '\n')" \
  'event: sourcesevent: textevent: answersevent: verdictsevent: done'
must 'chat' "$(ask "$url/v1/chat/completions" --data "$chat}")" '*chat.completion*'
must 'chat streamed' "$(ask --no-buffer "$url/v1/chat/completions" --data "$chat, \"stream\": true}" | tail -n 2)" 'data: \[DONE\]*'
must 'no JSON is 400' "$(code "$url/v1/query" --data '{')" 400
must 'a bad value is 422' "$(code "$url/v1/query" --data '{"question": "a", "k": 0}')" 422
must 'an unknown collection is 404' "$(code "$url/v1/query" --data '{"question": "a", "collection": "none-such"}')" 404
typed=$(curl --silent --output /dev/null --write-out '%{http_code}' --header "Authorization: Bearer $key" --header 'Content-Type: text/plain' "$url/v1/query" --data "$query")
must 'another content type is 415' "$typed" 415
must 'metrics' "$(ask "$url/metrics" | grep -c '^plumbline_stage_seconds_count')" '[1-9]*'
if [ "$key" != none ]; then
  must 'a wrong key is 401' "$(curl --silent --output /dev/null --write-out '%{http_code}' --header 'Authorization: Bearer pl-wrong' "$url/v1/models")" 401
fi
