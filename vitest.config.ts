import { defineConfig } from 'vitest/config';
import { findProjects } from './test/projects.js';

const { process: withProcesses, e2e, isolated } = findProjects();

// With it Node 20 reads a file of certificates at every start, 40 ms; the suite starts thousands of processes.
delete process.env.NODE_EXTRA_CA_CERTS;

const common = {
  // twice what the slowest test needs on an idle machine: only a test that fails takes so long
  testTimeout: 60_000,
  hookTimeout: 60_000,
  sequence: { groupOrder: 1 },
};
/** A process for each file, with everything that it imports, took a sixth of the suite's time. */
const shared = { ...common, isolate: false };
/** A test that needs the build fails outside of e2e, also where e2e runs beside it and has made one. */
const env = { TOOLHERD_TEST_DIST: '' };

/** test/projects.ts says which test is in which project. */
export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    // more than there are cores: most of these tests wait for processes
    maxWorkers: 4,
    projects: [
      { test: { ...common, name: 'isolated', include: isolated, env, sequence: { groupOrder: 0 } } },
      { test: { ...shared, name: 'e2e', include: e2e, globalSetup: ['test/build-setup.ts'] } },
      { test: { ...shared, name: 'process', include: withProcesses, env } },
      {
        test: {
          ...shared,
          name: 'unit',
          // what vitest finds later, in watch mode, is here until it starts again
          include: ['test/**/*.test.ts'],
          exclude: [...e2e, ...withProcesses, ...isolated],
          env,
        },
      },
    ],
  },
});
