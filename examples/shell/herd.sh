#!/bin/sh
# The herd from a shell: one line of JSON goes in, one comes out. Needs socat, or an nc that knows -U (OpenBSD's, macOS's).
set -eu

# What `toolherd socket` prints, for machines that have the socket and not the command.
run=${TOOLHERD_HOME:+$TOOLHERD_HOME/run}
run=${run:-${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/toolherd}}
run=${run:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/toolherd/run}
socket=${TOOLHERD_SOCKET:-$run/toolherd.sock}

# Each sends stdin to the daemon, says that this is all, and prints the replies.
if command -v socat >/dev/null; then
  talk() { socat -t 60 - "UNIX-CONNECT:$socket"; }
elif ! nc -h 2>&1 | grep -q -e '-U'; then
  echo "this needs socat, or an nc that knows -U: install one of them" >&2
  exit 127
elif nc -h 2>&1 | grep -q -e '-N.*[Ss]hutdown'; then
  talk() { nc -N -U "$socket"; }
else
  talk() { nc -U "$socket"; }
fi

ask() {
  printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" | talk
}

# An assignment fails with its command: the script ends where no daemon answers.
reply=$(ask fleet/call '{"server":"everything","tool":"echo","arguments":{"message":"hello from a shell"}}')
echo 'A call:'
echo "$reply" | sed -n 's/.*"text":"\([^"]*\)".*/  \1/p'

reply=$(ask fleet/status '{}')
echo 'The herd:'
echo "$reply" | sed 's/{"name"/\
{"name"/g' | sed -n 's/^{"name":"\([^"]*\)".*"state":"\([a-z]*\)".*/  \1 is \2/p'

reply=$(ask fleet/call '{"server":"everythin","tool":"echo"}')
echo 'An error:'
echo "$reply" | sed -n 's/.*"type":"\([A-Za-z]*Error\)".*"fix":"\([^"]*\)".*/  \1: \2/p'
