import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { config, type Entry, server } from '../../faults/config.js';
import { LineClient, namesOf, textOf } from '../../ipc/mcp/support.js';
import { toolherd } from '../../support/command.js';
import { makeFolder } from '../../support/folder.js';
import { type Herd, type Home, startHerd } from '../../support/herd.js';

/** An entry of both kinds of files that is the same wherever it stands. */
export const shared = (name: string, file = 'good.mjs', fields: Record<string, unknown> = {}): Entry =>
  server(name, file, { cwd: '/', ...fields });

export const agentFile = (entries: readonly Entry[]): string =>
  `tools:\n${entries.map((entry) => `  - ${JSON.stringify({ type: 'mcp', ...entry })}\n`).join('')}`;

/** A client that sees the herd as an agent's file has it, and speaks both vocabularies. */
export class Agent extends LineClient {
  async see(agent?: string): Promise<this> {
    await this.hello({ elicitation: {} });
    const reply = await this.ask('see', 'fleet/hello', { agent });
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return this;
  }

  async tools(): Promise<string[]> {
    const reply = await this.ask('tools', 'tools/list');
    return namesOf(reply.result?.tools);
  }

  async say1(tool: string, args: Record<string, unknown> = {}): Promise<string> {
    return textOf(await this.ask(`say ${tool}`, 'tools/call', { name: tool, arguments: args }));
  }

  pid(of: string): Promise<string> {
    return this.say1(`${of}__pid`);
  }

  async status(): Promise<Status[]> {
    const reply = await this.ask('status', 'fleet/status', {});
    return reply.result?.servers as Status[];
  }
}

export interface Status {
  name: string;
  agent: string | null;
  other_view?: true;
  detail: string;
  pids: number[];
  last_error: { message: string } | null;
}

export interface Project {
  file: string;
  folder: string;
  write(entries: readonly Entry[]): void;
  allow(): Promise<void>;
}

export interface World extends Herd {
  agent(): Agent;
  /** A folder with an agent.yaml that is not allowed yet. */
  project(name: string, entries: readonly Entry[]): Project;
}

export async function startWorld(entries: readonly Entry[]): Promise<World> {
  // agents may run the fixtures
  const herd = await startHerd(config([server('any', 'good.mjs'), ...entries]));
  return {
    ...herd,
    agent: () => new Agent(herd.home.socket),
    project: (name, own) => makeProject(herd.home, name, own),
  };
}

/** Its agent.yaml is not allowed yet. */
export function makeProject(home: Home, name: string, entries: readonly Entry[]): Project {
  // not in the home: what is there is the user's own
  const file = join(makeFolder(), name, 'agent.yaml');
  const folder = dirname(file);
  mkdirSync(folder);
  const write = (own: readonly Entry[]) => writeFileSync(file, agentFile(own));
  write(entries);
  return {
    file,
    folder,
    write,
    async allow() {
      const { status, stderr } = await toolherd(['allow', file, '--yes'], run(home, folder));
      if (status !== 0) throw new Error(stderr);
    },
  };
}

export const run = ({ environment }: Home, cwd: string) => ({ env: environment, cwd });
