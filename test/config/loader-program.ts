import { createInterface } from 'node:readline';
import { loadConfig } from '../../src/config/load.js';
import { ConfigError } from '../../src/config/parse/problem.js';

/** Loads one agent file per line of stdin, answers with one line each, and exits at the end of stdin. */
createInterface({ input: process.stdin }).on('line', async (agentFile) => {
  const started = process.hrtime.bigint();
  const options = { configFile: '/nowhere/config.yaml', userFolder: '/nowhere', trustFile: undefined };
  const answer = await loadConfig({
    ...options,
    agentFile,
    environment: { SET: 'value' },
    userHome: '/',
  }).then(
    ({ servers }) => ({ servers: servers.length }),
    (error: unknown) =>
      error instanceof ConfigError ? { message: error.problems[0]?.message } : { crash: String(error) },
  );
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  process.stdout.write(`${JSON.stringify({ ...answer, ms })}\n`);
});
