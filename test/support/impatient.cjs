// For a process under test: what it would wait for half a minute, it waits for a third of a second.
const wait = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...args) => wait(run, ms >= 30_000 ? ms / 100 : ms, ...args);
