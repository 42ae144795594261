import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addEntry, applyEdit } from '../../src/config/edit/index.js';
import { parseYaml } from '../../src/config/parse/parse-yaml.js';
import { ConfigError } from '../../src/config/parse/problem.js';
import { parseReferences } from '../../src/config/variables/variables.js';
import {
  entryOf,
  type InstallOption,
  installOptions,
  isInstallable,
  openRegistry,
  type RegistryServer,
  shortNameOf,
} from '../../src/registry/index.js';
import { readServer } from '../../src/registry/read-server.js';
import { ToolherdError } from '../../src/shared/errors.js';
import { measured } from '../faults/measured.js';
import { instantRetries } from '../registry/http-options.js';
import * as shapes from '../registry/shapes.js';
import { makeFolder } from '../support/folder.js';
import { mutated } from './mutations.js';
import { PATIENCE_MS, runs } from './runs.js';

const PUBLISHED = [shapes.context7, shapes.neo4j, shapes.github];
const PAGES = [
  JSON.stringify({
    servers: PUBLISHED.map(({ server }) => ({ server })),
    metadata: { count: 3, nextCursor: 'next' },
  }),
  ...PUBLISHED.map(({ server }) =>
    JSON.stringify({
      server,
      _meta: {
        'io.modelcontextprotocol.registry/official': {
          status: 'active',
          isLatest: true,
          publishedAt: '2026-01-01T00:00:00Z',
        },
      },
    }),
  ),
  JSON.stringify({
    server: {
      name: 'io.a/docker',
      version: '1',
      packages: [
        {
          registry_type: 'oci',
          identifier: 'images.example/x',
          version: '2',
          transport: { type: 'stdio' },
          runtime_arguments: [
            { type: 'named', name: '-e', value: 'A={a}', variables: { a: { isSecret: true } } },
          ],
          package_arguments: [{ type: 'positional', valueHint: 'folder', isRequired: true }],
        },
      ],
      remotes: [
        {
          type: 'sse',
          url: 'https://{tenant}.example/sse',
          headers: [{ name: 'Authorization', value: 'Bearer {token}', isRequired: true }],
          variables: { tenant: { default: 'x' } },
        },
      ],
    },
  }),
];

const textsOf = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : [];

/** A published entry must not run another program, take a hidden variable, or break the file. */
function expectHarmless(server: RegistryServer, offer: InstallOption): void {
  const { command, args = [], ...others } = offer.fields;
  if (offer.transport === 'stdio') expect(['npx', 'uvx', 'docker']).toContain(command);
  else expect(command).toBeUndefined();
  expect(offer.server).not.toMatch(/^-/);
  if (command === 'docker') expect(args[0]).toBe('run');
  const told = new Set(offer.needs.map(({ name }) => name));
  for (const part of textsOf([args, others]).flatMap(parseReferences)) {
    if (part.kind === 'variable') expect(told).toContain(part.name);
  }
  const entry = Object.fromEntries(
    Object.entries({ ...entryOf(server, offer, 'short', {}), type: 'mcp' }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const before = '# mine\ntools:\n  - {name: a, type: other} # stays\nz: 1\n';
  const after = applyEdit(before, addEntry(before, 'tools', entry));
  try {
    expect(parseYaml('f', after).value).toEqual({ tools: [{ name: 'a', type: 'other' }, entry], z: 1 });
  } catch (error) {
    // too deep, or a character that no file may have: then nothing is written
    if (!(error instanceof ConfigError)) throw error;
  }
}

describe('L3: for any answer of a registry', () => {
  it(
    'a server is read leniently, and its install options are harmless',
    () => {
      let offered = 0;
      fc.assert(
        fc.property(mutated(PAGES.slice(1), 0), (bytes) => {
          let item: unknown;
          try {
            item = JSON.parse(bytes.toString());
          } catch {
            return;
          }
          const server = readServer(item);
          if ('problem' in server) return;
          expect(server.name).not.toMatch(/\p{Cc}/u);
          for (const offer of installOptions(server, shortNameOf(server.name)).filter(isInstallable)) {
            offered += 1;
            expectHarmless(server, offer);
          }
        }),
        runs(100, 60_000),
      );
      measured(`L3: ${offered} install options of mutated registry servers, all harmless`);
      expect(offered).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );

  it(
    'search and lookup return a result, or a typed error with its reason',
    async () => {
      const cacheFolder = makeFolder();
      let found = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(mutated(PAGES, 0), { minLength: 1, maxLength: 3 }), async (pages) => {
          let asked = 0;
          const answer = async () =>
            new Response(new Uint8Array(pages[asked++ % pages.length]!), {
              headers: { 'content-type': 'application/json' },
            });
          const http = instantRetries({ fetch: answer as typeof fetch });
          const registry = openRegistry({
            base: 'https://registry.example/v0.1',
            cacheFolder,
            http,
            now: () => 0,
          });
          for (const ask of [
            () => registry.search('x', 5, undefined),
            () => registry.find('io.github.upstash/context7', 'latest'),
            () => registry.versions('io.a/docker'),
          ]) {
            await ask().then(
              () => {
                found += 1;
              },
              (error) => expect(error).toBeInstanceOf(ToolherdError),
            );
          }
          expect(asked).toBeLessThan(100);
        }),
        runs(40, 5000),
      );
      expect(found).toBeGreaterThan(10);
    },
    PATIENCE_MS,
  );
});
