import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // twice what the slowest needs where nothing else runs: only what fails takes so long
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // by itself it leaves one core free, and most of these tests wait for processes
    maxWorkers: 2,
  },
});
