import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Outcome, toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { type Published, startRegistry, type TestRegistry } from './server.js';

export interface Prepared {
  registry: TestRegistry;
  cwd: string;
  /** The project file and the global file. */
  agentFile: string;
  configFile: string;
  run(...args: string[]): Promise<Outcome>;
  /** Runs with variables set. */
  runWith(env: Record<string, string>, ...args: string[]): Promise<Outcome>;
  read(file: string): string;
  write(file: string, text: string): void;
}

/** A user in an empty folder, with a test registry. */
export async function prepareRegistry(published: readonly Published[] = []): Promise<Prepared> {
  const registry = await startRegistry(published);
  const cwd = makeFolder();
  const runWith = (env: Record<string, string>, ...args: string[]) =>
    toolherd(args, { cwd, env: { TOOLHERD_REGISTRY: registry.url, ...env } });
  return {
    registry,
    cwd,
    agentFile: join(cwd, 'agent.yaml'),
    configFile: join(cwd, 'home', 'config.yaml'),
    runWith,
    run: (...args) => runWith({}, ...args),
    read: (file) => readFileSync(file, 'utf8'),
    write(file, text) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    },
  };
}
