import type { Fleet } from '../../../fleet/fleet.js';
import {
  DEFAULT_SEPARATOR,
  type NameForm,
  publicNamePrefix,
  SEPARATORS,
} from '../../../shared/mcp/separators.js';
import { nearMiss } from '../../../shared/text/near-miss.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { UsageError } from '../../core/command.js';

export interface Target {
  server: string;
  name: string;
  /** The server is configured. */
  isKnown: boolean;
}

interface Sought {
  kind: 'tool' | 'prompt';
  /** The arguments behind the target. */
  words: readonly string[];
}

/** Splits SERVER.NAME: the longest server name in this view wins. Public names (`server__name`) work as well. */
export async function findTarget(fleet: Fleet, target: string, sought: Sought): Promise<Target> {
  const { servers } = await fleet.status();
  // the tools of another herd begin with its name, but its servers have them
  const own = servers.filter((server) => server.other_view !== true && server.herd_servers === undefined);
  const names = own.map(({ name }) => name).sort((a, b) => b.length - a.length);
  const server = names.find((name) => target.startsWith(`${name}.`) && target.length > name.length + 1);
  if (server !== undefined) return { server, name: target.slice(server.length + 1), isKnown: true };
  const owner = ownerOf(target, names, ['dotted', DEFAULT_SEPARATOR]);
  if (owner !== undefined) return { server: owner, name: target, isKnown: true };
  const listed = await listedName(fleet, target, names, sought);
  if (listed !== undefined) return listed;
  if (names.includes(target)) throw await serverAlone(fleet, target, sought);
  const [first, ...rest] = target.split('.');
  const name = rest.join('.');
  if (first === undefined || first === '' || name === '') throw await nameAlone(fleet, target, sought);
  return { server: first, name, isKnown: false };
}

/** `call everything get-sum`: the next word may be the tool. */
async function serverAlone(fleet: Fleet, server: string, { kind, words }: Sought): Promise<UsageError> {
  const [next = ''] = words;
  const entries = next === '' || next.includes('=') ? [] : await entriesOf(fleet, kind, server);
  const meant = entries.some(({ name }) => name === next)
    ? `did you mean '${server}.${next}'?`
    : `name one of its ${kind}s: see "toolherd ${kind}s ${shellWord(server)}"`;
  return new UsageError(`'${server}' is a server`, meant);
}

/** `call get-sum`: a server may have a tool of that name. */
async function nameAlone(fleet: Fleet, target: string, { kind }: Sought): Promise<UsageError> {
  const bare = target.replaceAll(/^\.|\.$/g, '');
  const entries = bare === '' ? [] : await entriesOf(fleet, kind);
  const meant = nearMiss(bare, new Set(entries.map(({ name }) => name)));
  const owners = entries.filter(({ name }) => name === meant).map(({ server }) => `'${server}.${meant}'`);
  const fix =
    owners.length > 0
      ? `did you mean ${owners.join(' or ')}?`
      : `write SERVER.${kind.toUpperCase()}; see "toolherd ${kind}s"`;
  return new UsageError(`'${target}' names no ${kind}`, fix);
}

async function entriesOf(
  fleet: Fleet,
  kind: Sought['kind'],
  server?: string,
): Promise<readonly { server: string; name: string; exposed_name: string }[]> {
  return kind === 'tool' ? (await fleet.tools(server)).tools : (await fleet.prompts(server)).prompts;
}

/**
 * A public name in the separator of the config. A server that only looks like its owner is not enough: `git-hub` may be
 * the tool `hub` of `git`, or a mistyped server, and a call must not reach another server than the one that was meant.
 */
async function listedName(
  fleet: Fleet,
  target: string,
  names: readonly string[],
  { kind }: Sought,
): Promise<Target | undefined> {
  const server = target.includes('.') ? undefined : ownerOf(target, names, SEPARATORS);
  if (server === undefined) return undefined;
  const found = (await entriesOf(fleet, kind, server)).find(({ exposed_name }) => exposed_name === target);
  return found && { server, name: found.name, isKnown: true };
}

/** The server whose public names begin like this. */
function ownerOf(target: string, names: readonly string[], forms: readonly NameForm[]): string | undefined {
  for (const form of forms) {
    const owner = names.find((name) => {
      const prefix = publicNamePrefix(name, form);
      return target.startsWith(prefix) && target.length > prefix.length;
    });
    if (owner !== undefined) return owner;
  }
  return undefined;
}
