// Loaded into every daemon that a test starts. One that ends in order must have let go of everything: what still keeps it
// alive a moment later (a timer, a socket, a process, a watcher) it says on stderr, where a daemon has nothing to say.
const { exit } = process;
/** What was closed in one turn is gone in the next. */
const MOST_LOOKS = 400;
const PAUSE_MS = 5;

/** Without the streams that a process is born with, and the timer in which it is asked. */
function held(isInTimer) {
  const names = process.getActiveResourcesInfo();
  const drop = (name) => names.includes(name) && names.splice(names.indexOf(name), 1);
  if (isInTimer) drop('Timeout');
  for (const { _handle: handle } of process._getActiveHandles()) {
    if (handle?.fd >= 0 && handle.fd <= 2) drop(handle.constructor.name === 'Pipe' ? 'PipeWrap' : 'TTYWrap');
  }
  return names;
}

function leave(looks) {
  const names = held(looks > 0);
  if (names.length > 0 && looks < MOST_LOOKS) {
    setTimeout(leave, PAUSE_MS, looks + 1);
    return;
  }
  if (names.length > 0) console.error(`still held at its end: ${names.join(', ')}`);
  exit(0);
}

process.exit = (code) => {
  if (code === 0) leave(0);
  else exit(code);
};
