import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { config, server } from '../faults/config.js';
import { LineClient } from '../ipc/mcp/support.js';
import { toolherd } from '../support/command.js';
import { type Home, isAlive, makeHome, until } from '../support/herd.js';
import { expectNoFault } from './faults.js';
import { mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS } from './runs.js';

const REMOTE = 'http://127.0.0.1:9/mcp';
const AUTH = {
  version: 1,
  servers: {
    [`far ${REMOTE}`]: {
      resource: REMOTE,
      given: { id: 'me', secret: 'given-secret' },
      client: { client_id: 'me', client_secret: 'client-secret', issuer: 'https://issuer.example' },
      tokens: {
        access_token: 'access-token',
        token_type: 'Bearer',
        refresh_token: 'refresh-token',
        expires_in: 3600,
      },
      obtainedAt: 1_790_000_000_000,
      discovery: {
        authorizationServerUrl: 'https://issuer.example',
        authorizationServerMetadata: {
          issuer: 'https://issuer.example',
          token_endpoint: 'https://issuer.example/token',
        },
      },
    },
  },
};

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Everything that a daemon keeps and its successor reads. Logs are only written. */
function keptFiles({ folder }: Home): string[] {
  const kept = ['state', 'cache'].flatMap((name) => filesIn(join(folder, name)));
  return kept.filter((file) => !/\/(logs|compiled)\//.test(file));
}

async function end(home: Home, pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid));
  await until(() =>
    connectFleet({ socket: home.socket }).then(
      (fleet) => void fleet.close(),
      () => true,
    ),
  );
}

it(
  'L3: a daemon starts and serves for any content of its state files, and every error is typed',
  async () => {
    const far = {
      name: 'far',
      description: 'd',
      server: 's',
      transport: 'http',
      url: REMOTE,
      timeout: 5,
      restart: 'never',
    };
    const home = makeHome(config([server('good', 'good.mjs'), far], { http: { listen: '127.0.0.1:0' } }));
    const agentFile = join(home.folder, 'project', 'agent.yaml');
    // what a daemon that was used a little leaves when it is killed
    const first = await home.start();
    const fleet = await connectFleet({ socket: home.socket });
    await fleet.tools('good', true);
    await fleet.close();
    await toolherd(['add', 'extra', '--agent', agentFile, '--', 'npx', '-y', 'x'], {
      cwd: home.folder,
      env: home.environment,
    });
    writeFileSync(join(home.folder, 'state', 'auth.json'), JSON.stringify(AUTH), { mode: 0o600 });
    await until(() => keptFiles(home).some((file) => file.endsWith('eras.json')));
    await end(home, first.pid);
    const originals = new Map(keptFiles(home).map((file) => [file, readFileSync(file)]));
    const names = [...originals.keys()].map((file) => relative(home.folder, file));
    for (const name of [
      'state/ledger',
      'state/trust.json',
      'state/auth.json',
      'state/http-token',
      'cache/eras.json',
    ])
      expect(names).toContain(name);

    const damages = fc.tuple(...[...originals.values()].map((text) => mutated([text], 0)));
    await fc.assert(
      fc.asyncProperty(damages, async (texts) => {
        for (const [at, file] of [...originals.keys()].entries())
          writeFileSync(file, texts[at]!, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600 });
        const daemon = await home.start();
        const client = new LineClient(home.socket);
        expect(
          await client.ask(1, 'fleet/call', { server: 'good', tool: 'echo', arguments: { value: 'v' } }),
        ).toMatchObject({ result: { success: true } });
        for (const [method, params] of [
          ['fleet/hello', { agent: agentFile }],
          ['fleet/hello', {}],
          ['fleet/tools', { server: 'good' }],
          ['fleet/start', { servers: ['far'], wait: true }],
          ['fleet/call', { server: 'far', tool: 'x', timeout_ms: 2000 }],
          ['fleet/authorize', { server: 'far' }],
          ['fleet/logout', { server: 'far' }],
          ['fleet/status', {}],
        ] as const) {
          const { error } = await client.ask(method, method, params);
          expect([method, error?.message ?? '']).toEqual([
            method,
            expect.not.stringContaining('Internal error'),
          ]);
        }
        client.close();
        expectNoFault(home);
        await end(home, daemon.pid);
      }),
      livingRuns(2, 400),
    );
  },
  PATIENCE_MS,
);
