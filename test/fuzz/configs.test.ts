import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertOneEntryChanged } from '../../src/config/edit/assert-one-entry-changed.js';
import {
  addEntry,
  allowCommand,
  applyEdit,
  findEntries,
  removeEntry,
  type TextEdit,
} from '../../src/config/edit/index.js';
import { loadConfig } from '../../src/config/load.js';
import { parseYaml } from '../../src/config/parse/parse-yaml.js';
import { ConfigError } from '../../src/config/parse/problem.js';
import { Dice, mutate } from '../config/mutations.js';
import { config, server } from '../faults/config.js';
import { measured } from '../faults/measured.js';
import { makeFolder } from '../support/folder.js';
import { isAlive, startHerd } from '../support/herd.js';
import { expectNoFault } from './faults.js';
import { legible, mutated } from './mutations.js';
import { livingRuns, PATIENCE_MS, runs } from './runs.js';

const YAML = `version: "1.0" # one
daemon: {log_level: info}
security:
  allowed_commands: [deno] # mine
mcp_servers:
  # the first
  - name: a
    server: s
    command: deno
    args: ["run", "\${SET}"]
    env: {A: "\${SET:-x}", B: '2'}
    envFile: .env
  - {name: b, server: s, transport: http, url: "https://b.example", headers: {X: "\${SET}"}}

  - name: c # the last
    description: >-
      of two
      lines
    server: s
    command: npx
    backoff: {min: 1, max: 10}
    tools: {allow: ["read_*"]}
# the end
`;
const JSON_TEXT = JSON.stringify(parseYaml('f', YAML).value, null, 1);
const ENV =
  'PLAIN=1\nexport SPACED = two words # comment\nQUOTED="a\\nb $SET ${SET} `id`"\nSINGLE=\'$(id)\'\nMULTI="one\ntwo"\nEMPTY=\n';

type Answer = { ok: true; servers: unknown } | { ok: false; problems: unknown };

async function load(folder: string): Promise<Answer> {
  try {
    const { servers } = await loadConfig({
      configFile: join(folder, 'config.yaml'),
      userFolder: folder,
      trustFile: undefined,
      environment: { SET: 'value' },
      userHome: '/',
    });
    return { ok: true, servers };
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { problems } = error as ConfigError;
    expect(problems.length).toBeGreaterThan(0);
    return { ok: false, problems };
  }
}

/** A file that is slow is slow every time; a machine is not. */
async function withinTwoSeconds<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const begun = performance.now();
    const answer = await work();
    if (performance.now() - begun < 2000) return answer;
    expect(tries).toBeLessThan(3);
  }
}

/** As every edit of a file is made: over the net. */
function netted(text: string, splice: TextEdit): string {
  const after = applyEdit(text, splice);
  assertOneEntryChanged(text, after);
  return after;
}

describe('L3: for any config', () => {
  it(
    'loading gives servers or problems, within its time, and the same twice',
    async () => {
      const folder = makeFolder();
      const tally = { true: 0, false: 0 };
      await fc.assert(
        fc.asyncProperty(mutated([YAML, JSON_TEXT], 0), mutated([ENV], 0), async (bytes, env) => {
          writeFileSync(join(folder, 'config.yaml'), bytes);
          writeFileSync(join(folder, '.env'), env);
          const answer = await withinTwoSeconds(() => load(folder));
          expect(await load(folder)).toEqual(answer);
          tally[`${answer.ok}`] += 1;
        }),
        runs(80, 20_000),
      );
      measured(`L3: mutated configs: ${tally.true} accepted, ${tally.false} refused`);
      for (const count of Object.values(tally)) expect(count).toBeGreaterThan(10);
    },
    PATIENCE_MS,
  );

  it(
    'an edit changes only its entry, or is refused',
    () => {
      let edited = 0;
      const entry = { name: 'new', server: 's', command: 'npx', args: ['-y', '# x', '${A}'] };
      const attempt = <T>(edit: () => T): T | undefined => {
        try {
          return edit();
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          return undefined;
        }
      };
      const readAs = (text: string) =>
        attempt(() => parseYaml('f', text).value as Record<string, unknown> | null);
      const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0);
      fc.assert(
        fc.property(fc.nat(), fc.nat(), (seed, which) => {
          const text = mutate(seed % 3 === 0 ? JSON_TEXT : YAML, new Dice(seed), [YAML, JSON_TEXT]);
          const before = readAs(text);
          const added = attempt(() => netted(text, addEntry(text, 'mcp_servers', entry)));
          if (before === undefined) expect(added).toBeUndefined();
          if (added === undefined || before === undefined) return;
          edited += 1;
          const { mcp_servers: now, ...others } = readAs(added) as Record<string, unknown[]>;
          const { mcp_servers: then, ...sameOthers } = (before ?? { version: '1.0' }) as Record<
            string,
            unknown
          >;
          expect(others).toEqual(sameOthers);
          expect(now).toEqual([...((then ?? []) as unknown[]), entry]);
          const last = findEntries(added, 'mcp_servers').length - 1;
          if (lengthOf(then) > 0)
            expect(applyEdit(added, removeEntry(added, 'mcp_servers', last))).toBe(text);
          const removed = attempt(() => netted(added, removeEntry(added, 'mcp_servers', which % (last + 1))));
          if (removed !== undefined) expect(lengthOf(readAs(removed)?.mcp_servers)).toBe(last);
          const allowed = attempt(() => allowCommand(text, 'bun'));
          if (allowed === undefined) return;
          const { security, ...untouched } = readAs(allowed) as Record<
            string,
            { allowed_commands: unknown[] }
          >;
          const { security: was, ...asBefore } = (before ?? { version: '1.0' }) as Record<string, unknown>;
          expect(untouched).toEqual(asBefore);
          expect(security).toEqual({
            ...(was as object | null),
            allowed_commands: [...((was as typeof security | null)?.allowed_commands ?? []), 'bun'],
          });
        }),
        runs(60, 20_000),
      );
      expect(edited).toBeGreaterThan(15);
    },
    PATIENCE_MS,
  );

  it(
    'a reload applies it completely, or leaves the servers unchanged',
    async () => {
      const entries = [
        server('good', 'good.mjs'),
        server('other', 'good.mjs'),
        server('third', 'good.mjs', { tools: { allow: ['*'] } }),
      ];
      const text = config(entries);
      const { home, fleet, daemon, say } = await startHerd(text);
      const environment = home.environment;
      const shown = async () => (await fleet.status()).servers.map(({ name }) => name);
      const inLines = (seed: number) => legible(Buffer.from(mutate(text, new Dice(seed), [YAML])));
      let [applied, refused] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.oneof(mutated([text]), fc.nat().map(inLines)), async (bytes) => {
          home.configure(text);
          await fleet.reload();
          const pid = await say('good', 'pid');
          writeFileSync(home.configFile, bytes);
          const loading = loadConfig({
            configFile: home.configFile,
            userFolder: home.folder,
            trustFile: undefined,
            environment,
            userHome: home.folder,
            reader: 'daemon',
          });
          const loaded = await loading.catch(() => undefined);
          // an empty file is about to be written: it does not empty the herd
          const expected = bytes.length === 0 ? undefined : loaded;
          const isTaken = await fleet.reload().then(
            () => true,
            (error: { type: string }) => {
              expect(error.type).toMatch(/ConfigError$|ValidationError$/);
              return false;
            },
          );
          expect(isTaken).toBe(expected !== undefined);
          if (expected === undefined) {
            refused += 1;
            expect(await shown()).toEqual(['good', 'other', 'third']);
            expect(await say('good', 'pid')).toBe(pid);
          } else {
            applied += 1;
            expect(await shown()).toEqual(expected.servers.map(({ name }) => name));
          }
          expect(isAlive(daemon.pid)).toBe(true);
        }),
        livingRuns(12, 1500),
      );
      home.configure(text);
      await fleet.reload();
      expect(await say('good', 'echo', { value: 'well' })).toBe('well');
      expectNoFault(home);
      for (const count of [applied, refused]) expect(count).toBeGreaterThan(1);
    },
    PATIENCE_MS,
  );
});
