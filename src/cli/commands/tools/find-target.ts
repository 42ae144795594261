import type { Fleet } from '../../../fleet/fleet.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { UsageError } from '../../core/command.js';

export interface Target {
  server: string;
  name: string;
  /** The server is configured. */
  isKnown: boolean;
}

/** Splits SERVER.NAME: the longest server name in this view wins. The public name (`server__name`) works as well. */
export async function findTarget(fleet: Fleet, target: string, kind: 'tool' | 'prompt'): Promise<Target> {
  const { servers } = await fleet.status();
  const own = servers.filter(({ other_view }) => other_view !== true);
  const names = own.map(({ name }) => name).sort((a, b) => b.length - a.length);
  const server = names.find((name) => target.startsWith(`${name}.`));
  if (server !== undefined) return { server, name: target.slice(server.length + 1), isKnown: true };
  const owner = names.find((name) => target.startsWith(`${name.replaceAll(/[^A-Za-z0-9_.-]/g, '-')}__`));
  if (owner !== undefined) return { server: owner, name: target, isKnown: true };
  const dot = target.indexOf('.');
  if (names.includes(target)) {
    throw new UsageError(
      `'${target}' is a server`,
      `name one of its ${kind}s: see "toolherd ${kind}s ${shellWord(target)}"`,
    );
  }
  if (dot === -1) {
    const fix = `write SERVER.${kind.toUpperCase()}; see "toolherd ${kind}s"`;
    throw new UsageError(`'${target}' names no ${kind}`, fix);
  }
  return { server: target.slice(0, dot), name: target.slice(dot + 1), isKnown: false };
}
