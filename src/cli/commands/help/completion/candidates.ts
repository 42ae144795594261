import type { Fleet, ServerStatus } from '../../../../fleet/fleet.js';
import { COMMANDS } from '../../../commands.js';
import { type Command, type CommandContext, GLOBAL_OPTIONS } from '../../../core/command.js';
import { propertiesOf } from '../../tools/schema-types.js';
import { SHELLS } from './scripts.js';

/** The herd, if one runs; it is not started for a word. */
export type FindFleet = (flags: CommandContext['flags']) => Promise<Fleet | undefined>;

interface Place {
  verb: Command;
  name: string;
  /** The arguments before the one that is being written. */
  args: readonly string[];
  current: string;
  fleet(): Promise<Fleet | undefined>;
}

/** What can stand at the place that is being written. `words` begins with the command itself. */
export async function candidates(
  words: readonly string[],
  at: number,
  loadVerb: CommandContext['loadVerb'],
  findFleet: FindFleet,
): Promise<string[]> {
  const [before, current, typed] = joined(words.slice(0, at + 1), at);
  const found = await atPlace(before.slice(1), current, loadVerb, findFleet);
  const isPlain = (word: string) => /^[\w.@:/+=-]+$/.test(word);
  return [...new Set(found)]
    .filter((word) => word.startsWith(current) && isPlain(word))
    .map((word) => word.slice(current.length - typed.length));
}

/**
 * Bash parts words at `=` and `:`, and replaces only what stands behind the last of them. Answers with the words as they
 * were written, the one that is being written, and what of it is replaced.
 */
function joined(words: readonly string[], at: number): [before: string[], current: string, typed: string] {
  const isBreak = (word = '') => /^[=:]+$/.test(word);
  const whole: string[] = [];
  for (const [index, word] of words.entries()) {
    const isMore = isBreak(word) || (isBreak(words[index - 1]) && word !== '');
    if (index > 0 && isMore) whole[whole.length - 1] += word;
    else whole.push(word);
  }
  const last = words[at] ?? '';
  if (words.length <= at) return [whole, '', ''];
  const current = whole.pop() ?? '';
  return [whole, current, isBreak(last) ? '' : last];
}

async function atPlace(
  before: readonly string[],
  current: string,
  loadVerb: CommandContext['loadVerb'],
  findFleet: FindFleet,
): Promise<readonly string[]> {
  const { name, flags, args } = read(before, {});
  if (name === undefined) return current.startsWith('-') ? flagsOf({}) : Object.keys(COMMANDS);
  if (!Object.hasOwn(COMMANDS, name)) return [];
  const verb = await loadVerb(name);
  const all = read(before, verb.options);
  const fleet = () => findFleet({ ...flags, ...all.flags });
  if (all.open !== undefined) return valuesOf(all.open, fleet);
  if (current.startsWith('-')) return flagsOf(verb.options);
  return argumentsOf({ verb, name, args: all.name === name ? all.args : args, current, fleet });
}

/** The words before, loosely: which is the verb, which flags have their values. `open`: the flag that waits for one. */
function read(words: readonly string[], options: Command['options']) {
  const known: Command['options'] = { ...GLOBAL_OPTIONS, ...options };
  const flags: Record<string, string | boolean> = {};
  const args: string[] = [];
  let open: string | undefined;
  for (const word of words) {
    if (open !== undefined) {
      flags[open] = word;
      open = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.replace(/^--?/, '').split('=', 2);
      const entry = Object.entries(known).find(([name, { short }]) => name === flag || short === flag);
      const name = entry?.[0] ?? flag;
      if (entry?.[1].type === 'string' && value === undefined) open = name;
      else flags[name] = value ?? true;
    } else args.push(word);
  }
  return { name: args[0], args: args.slice(1), flags, open };
}

function flagsOf(options: Command['options']): string[] {
  return Object.keys({ ...options, ...GLOBAL_OPTIONS }).map((name) => `--${name}`);
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  chart: ['mermaid', 'svg'],
  level: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  scope: ['user', 'project'],
  transport: ['stdio', 'sse', 'websocket', 'http'],
};

async function valuesOf(flag: string, fleet: Place['fleet']): Promise<readonly string[]> {
  return flag === 'server' ? ownNames(await fleet()) : (VALUES[flag] ?? []);
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  help: Object.keys(COMMANDS),
  completion: SHELLS,
  schema: ['agent', 'config'],
  service: ['install', 'uninstall', 'status'],
};
const OF_SERVERS = ['status', 'start', 'stop', 'restart', 'reset', 'logs'];
/** These also know the servers that only other agents have. */
const OF_ANY_SERVER = [...OF_SERVERS, 'why', 'inspect', 'pins'];
const OF_ONE_SERVER = [
  'why',
  'inspect',
  'tools',
  'prompts',
  'resources',
  'resource',
  'auth',
  'unregister',
  'pins',
];

async function argumentsOf({ name, args, current, fleet }: Place): Promise<readonly string[]> {
  if (args.length === 0 && Object.hasOwn(WORDS, name)) return WORDS[name] ?? [];
  if (OF_SERVERS.includes(name) || (OF_ONE_SERVER.includes(name) && args.length === 0)) {
    const taken = new Set(args);
    const names = await (OF_ANY_SERVER.includes(name) ? allNames : ownNames)(await fleet());
    return names.filter((server) => !taken.has(server));
  }
  if (name === 'call' && args.length > 0) return argumentNames(args, await fleet());
  if ((name === 'call' || name === 'prompt') && args.length === 0)
    return offered(name === 'call' ? 'tools' : 'prompts', current, await fleet());
  return [];
}

async function allNames(fleet: Fleet | undefined): Promise<string[]> {
  const servers = fleet === undefined ? [] : (await fleet.status()).servers;
  return [...new Set(servers.map(({ name }) => name))];
}

async function ownNames(fleet: Fleet | undefined): Promise<string[]> {
  return fleet === undefined ? [] : (await ownServers(fleet)).map(({ name }) => name);
}

/** Those that can be called from here. */
async function ownServers(fleet: Fleet): Promise<ServerStatus[]> {
  return (await fleet.status()).servers.filter(({ other_view }) => other_view !== true);
}

/** First the servers, then what the one offers; one whose offer is not known is not started for it. */
async function offered(
  kind: 'tools' | 'prompts',
  current: string,
  fleet: Fleet | undefined,
): Promise<string[]> {
  if (fleet === undefined) return [];
  const servers = await ownServers(fleet);
  const known = servers.filter((server) => server[kind] > 0);
  const begun = known.filter(({ name }) => current.startsWith(`${name}.`));
  if (begun.length === 0) return known.map(({ name }) => `${name}.`);
  const offers = begun.map(async ({ name }) =>
    kind === 'tools' ? (await fleet.tools(name)).tools : (await fleet.prompts(name)).prompts,
  );
  return (await Promise.all(offers)).flat().map(({ server, name }) => `${server}.${name}`);
}

async function argumentNames(
  [target = '', ...given]: readonly string[],
  fleet: Fleet | undefined,
): Promise<string[]> {
  if (fleet === undefined) return [];
  const servers = await ownServers(fleet);
  const owners = servers.filter(({ name, tools }) => tools > 0 && target.startsWith(`${name}.`));
  const lists = await Promise.all(owners.map(({ name }) => fleet.tools(name)));
  const tool = lists.flatMap(({ tools }) => tools).find(({ server, name }) => `${server}.${name}` === target);
  const isGiven = (name: string) =>
    given.some((word) => word.startsWith(`${name}=`) || word.startsWith(`${name}:=`));
  return Object.keys(propertiesOf(tool?.input_schema))
    .filter((name) => !isGiven(name))
    .map((name) => `${name}=`);
}
