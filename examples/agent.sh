#!/bin/sh
# A stand-in for a model: reads the prompt, answers by what it asks for. Needs no network.
#   examples/agent.sh good|bad
prompt=$(cat)
case $prompt in
*"Is this a reasonable API response"*)
  echo '{"score": 0.9, "verdict": "pass", "reason": "readable, though not the agreed shape"}' ;;
*"The gate verdict was"*)
  printf '%s\n' "$prompt" | head -n 1 ;;
*)
  if [ "$1" = good ]; then
    echo '{"status": "success", "data": [{"id": 1, "name": "Ada"}], "message": "1 user"}'
  else
    echo '{"users": [{"id": 1, "name": "Ada"}]}'
  fi ;;
esac
