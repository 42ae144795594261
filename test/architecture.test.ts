import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Who may import whom. A room is a folder of src, or a file that stands in src itself. Types may come from wherever
 * `types` says; code only from where `code` says. `node` stands for Node's own modules.
 */
interface Rule {
  code: readonly string[];
  types?: readonly string[];
}

const RULES: Record<string, Rule> = {
  'errors.ts': { code: [] },
  'version.ts': { code: [] },
  'paths.ts': { code: ['node'] },
  'missing-lists.ts': { code: [], types: ['ipc'] },
  'near-miss.ts': { code: [] },
  'shell-word.ts': { code: [] },
  'control-characters.ts': { code: [] },
  'secret-name.ts': { code: [] },
  'hide-secrets.ts': { code: ['secret-name.ts'] },
  framing: { code: ['node'] },
  'modern-names.ts': { code: [] },
  config: {
    code: [
      'node',
      'errors.ts',
      'near-miss.ts',
      'shell-word.ts',
      'secret-name.ts',
      'machines',
      'zod',
      'yaml',
      'dotenv',
      'jsonc-parser',
    ],
  },
  machines: { code: ['xstate'], types: ['config'] },
  testing: { code: ['xstate', 'machines'], types: ['config'] },
  link: {
    code: [
      'node',
      'errors.ts',
      'shell-word.ts',
      'secret-name.ts',
      'hide-secrets.ts',
      'control-characters.ts',
      'modern-names.ts',
      'framing',
      'ws',
      '@modelcontextprotocol/sdk',
      '@modelcontextprotocol/client',
    ],
    types: ['machines', 'config', 'zod'],
  },
  supervisor: {
    code: [
      'node',
      'errors.ts',
      'missing-lists.ts',
      'near-miss.ts',
      'shell-word.ts',
      'hide-secrets.ts',
      'xstate',
      'machines',
      'link',
    ],
    types: ['config', 'ipc', 'framing'],
  },
  ipc: { code: ['node', 'errors.ts', 'version.ts', 'modern-names.ts', 'framing'] },
  registry: { code: ['node', 'errors.ts', 'config'] },
  clients: {
    code: ['node', 'errors.ts', 'secret-name.ts', 'hide-secrets.ts', 'config', 'jsonc-parser', 'smol-toml'],
  },
  log: { code: ['node', 'control-characters.ts', 'pino'] },
  daemon: {
    code: [
      'node',
      'errors.ts',
      'version.ts',
      'paths.ts',
      'shell-word.ts',
      'control-characters.ts',
      'config',
      'ipc',
      'link',
      'log',
      'supervisor',
    ],
  },
  'daemon.ts': { code: ['node', 'cli'] },
  library: {
    code: ['node', 'errors.ts', 'version.ts', 'paths.ts', 'config', 'ipc', 'link', 'daemon'],
  },
  'client.ts': { code: ['errors.ts', 'ipc', 'library'] },
  cli: {
    code: [
      'node',
      'errors.ts',
      'version.ts',
      'paths.ts',
      'missing-lists.ts',
      'near-miss.ts',
      'shell-word.ts',
      'control-characters.ts',
      'secret-name.ts',
      'hide-secrets.ts',
      'framing',
      'execa',
      'clients',
      'config',
      'ipc',
      'log',
      'machines',
      'registry',
    ],
    types: ['xstate'],
  },
  'main.ts': { code: ['node', 'paths.ts', 'near-miss.ts', 'cli'] },
  'index.ts': { code: ['client.ts', 'version.ts', 'config', 'library'] },
};

const SRC = join(import.meta.dirname, '..', 'src');
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

interface Import {
  file: string;
  room: string;
  target: string;
  isType: boolean;
}

function roomOf(path: string): string {
  return relative(SRC, path).split('/')[0] ?? '';
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map(([, type, from, dynamic]) => {
    const name = from ?? dynamic ?? '';
    const target = name.startsWith('.')
      ? roomOf(resolve(dirname(file), name.replace(/\.js$/, '.ts')))
      : name.startsWith('node:')
        ? 'node'
        : name.replace(/^(@[^/]+\/[^/]+|[^/]+).*/, '$1');
    return { file: relative(SRC, file), room: roomOf(file), target, isType: type !== undefined };
  });
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(SRC, name));

describe('the house', () => {
  it('every room is known', () => {
    expect([...new Set(FILES.map(roomOf))].filter((room) => !(room in RULES))).toEqual([]);
  });

  it('every room imports only what it may', () => {
    const wrong = FILES.flatMap(importsOf).filter(({ room, target, isType }) => {
      const rule = RULES[room];
      if (rule === undefined || target === room || rule.code.includes(target)) return false;
      return !(isType && rule.types?.includes(target));
    });
    expect(wrong).toEqual([]);
  });

  it('the test reads imports at all', () => {
    expect(FILES.flatMap(importsOf).filter(({ target }) => target === 'zod').length).toBeGreaterThan(3);
  });
});

describe('what tests import', () => {
  it('has no hook at its top: files share a process, and only the first of them would have it', () => {
    const folder = import.meta.dirname;
    const shared = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    const hook = /^(?:before|after)(?:Each|All)\(/m;
    expect(shared.length).toBeGreaterThan(10);
    expect(shared.filter((name) => hook.test(readFileSync(join(folder, name), 'utf8')))).toEqual([]);
  });
});
