import { defineConfig } from 'vitest/config';

/** They look at the process they run in: its memory, its umask, what it calls. */
const ALONE = [
  'test/shared/framing/framer.test.ts',
  'test/hot-path.test.ts',
  'test/ipc/server/hostile.test.ts',
  'test/ipc/jsonrpc/message.test.ts',
  'test/ipc/jsonrpc/peer.test.ts',
  'test/ipc/socket/socket-owner.test.ts',
  'test/link/session/long-messages.test.ts',
  'test/link/session/raw/raw-reply.test.ts',
  'test/link/stdio/server-output.test.ts',
  'test/supervisor/memory/rss.test.ts',
];

const common = {
  // twice what the slowest needs where nothing else runs: only what fails takes so long
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    // more than there are cores: most of these tests wait for processes
    maxWorkers: 3,
    projects: [
      { test: { ...common, name: 'alone', include: ALONE, sequence: { groupOrder: 0 } } },
      {
        test: {
          ...common,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          // a process for each file, with all that it imports, was a sixth of the time of the suite
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
