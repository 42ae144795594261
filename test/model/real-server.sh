#!/bin/sh
# A server in a shell: a real process that starts in a few milliseconds and does what it is told, no more.
#   $1  how it goes: `kind` at the end of its input; `held` when a word comes for it; `stubborn` only by KILL
#   $2  a named pipe from which it takes words: how to shake hands, when to list, when to go
#   $3  a file in which it notes every call it gets: its pid and the mark of the call
behaviour=$1 words=$2 notes=$3
lists=$4
[ "$behaviour" = stubborn ] && trap '' TERM

reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
say() { reply "$1" "{\"content\":[{\"type\":\"text\",\"text\":\"$2\"}]}"; }
changed() { printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'; }
hello='{"protocolVersion":"2025-06-18","serverInfo":{"name":"real","version":"1"},"capabilities":{"tools":{}}}'
tools='{"tools":[{"name":"pid","inputSchema":{"type":"object"}},{"name":"wait","inputSchema":{"type":"object"}}]}'

# One word after the other, until one says how the handshake goes.
shake() {
  while read -r word <"$words"; do
    case $word in
      open) reply "$1" "$hello" && return ;;
      refuse) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}\n' "$1" && return ;;
      changed) changed ;;
      go) exit 0 ;;
      exit) exit 3 ;;
    esac
  done
}

while IFS= read -r line; do
  id=${line##*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*) if [ "$words" = open ]; then reply "$id" "$hello"; else shake "$id"; fi ;;
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id" ;;
    *'"method":"ping"'*) reply "$id" '{}' ;;
    *'"method":"tools/list"'*) if [ "$lists" = held ]; then held=$id; else reply "$id" "$tools"; fi ;;
    *'"method":"tools/call"'*)
      mark=${line#*\"mark\":\"}
      printf '%s %s\n' "$$" "${mark%%\"*}" >>"$notes"
      name=${line#*\"name\":\"}
      case ${name%%\"*} in
        pid) say "$id" "$$" ;;
        wait) ;;
        listed) reply "$held" "$tools" && lists=free && say "$id" listed ;;
        changed) changed && say "$id" changed ;;
        exit) exit 7 ;;
        end) say "$id" bye && exit 0 ;;
        shut) exec 1>&- ;;
      esac ;;
  esac
done

case $behaviour in
  kind) exit 0 ;;
  held) while read -r word <"$words"; do if [ "$word" = changed ]; then changed; else exit 0; fi; done ;;
  stubborn) while :; do sleep 1000; done ;;
esac
