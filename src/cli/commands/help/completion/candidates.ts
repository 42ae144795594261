import type { Fleet, NamedList, ServerStatus } from '../../../../fleet/fleet.js';
import {
  type ArgumentDeclaration,
  type Command,
  type CommandContext,
  type Completion,
  GLOBAL_OPTIONS,
  type Globals,
  type OptionDeclaration,
} from '../../../core/command.js';
import { COMMANDS } from '../../../core/command-names.js';
import { visibleOptions } from '../../../core/usage.js';
import { choicesOf, propertiesOf } from '../../tools/schema-types.js';

/** Where names come from. The options of the command that is written may name other files and another daemon. */
export interface Sources {
  /** Connects to the running daemon, if there is one. Completion starts none. */
  findFleet(globals: Partial<Globals>): Promise<Fleet | undefined>;
  /** The profiles of the config files. */
  findProfiles(globals: Partial<Globals>): Promise<readonly string[]>;
}

type LoadCommand = CommandContext['loadCommand'];
type Options = Readonly<Record<string, OptionDeclaration>>;

/** The word that is being written. */
interface Place {
  current: string;
  /** The arguments before it. */
  args: readonly string[];
  fleet(): Promise<Fleet | undefined>;
  profiles(): Promise<readonly string[]>;
}

/** The words that fit at the place that is being written. `words` begins with `toolherd`. */
export async function candidates(
  words: readonly string[],
  at: number,
  loadCommand: LoadCommand,
  sources: Sources,
): Promise<string[]> {
  const [before, current, typed] = joined(words.slice(0, at + 1), at);
  const found = await atPlace(before.slice(1), current, loadCommand, sources);
  const isPlain = (word: string) => /^[\w.@:/+=-]+$/.test(word);
  return [...new Set(found)]
    .filter((word) => word.startsWith(current) && isPlain(word))
    .map((word) => word.slice(current.length - typed.length));
}

/**
 * Bash splits words at `=` and `:`, and replaces only the part behind the last of them. Answers with the words as they were
 * written, the one that is being written, and the part of it that is replaced.
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
  loadCommand: LoadCommand,
  { findFleet, findProfiles }: Sources,
): Promise<readonly string[]> {
  const { name, given, args } = read(before, {});
  if (name === undefined) return current.startsWith('-') ? optionNames({}) : Object.keys(COMMANDS);
  if (!Object.hasOwn(COMMANDS, name)) return [];
  const command = await loadCommand(name);
  const all = read(before, command.options);
  const globals = globalsIn({ ...given, ...all.given });
  const [fleet, profiles] = [() => findFleet(globals), () => findProfiles(globals)];
  const place = { current, args: all.name === name ? all.args : args, fleet, profiles };
  if (all.open !== undefined) return valuesOf({ ...GLOBAL_OPTIONS, ...command.options }[all.open], place);
  if (current.startsWith('-')) return optionNames(command.options);
  return valuesOf(argumentAt(command, place.args.length), place);
}

type Given = Readonly<Record<string, string | boolean>>;

/** Reads the words before loosely: the command, its arguments and options. `open`: the option whose value comes next. */
function read(words: readonly string[], options: Options) {
  const known: Options = { ...GLOBAL_OPTIONS, ...options };
  const given: Record<string, string | boolean> = {};
  const args: string[] = [];
  let open: string | undefined;
  for (const word of words) {
    if (open !== undefined) {
      given[open] = word;
      open = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.replace(/^--?/, '').split('=', 2);
      const entry = Object.entries(known).find(([name, { short }]) => name === flag || short === flag);
      const name = entry?.[0] ?? flag;
      if (entry !== undefined && entry[1].type !== 'boolean' && value === undefined) open = name;
      else given[name] = value ?? true;
    } else args.push(word);
  }
  return { name: args[0], args: args.slice(1), given, open };
}

/** The options that say which daemon and which files are meant. */
function globalsIn(given: Given): Partial<Globals> {
  const named = ['config', 'agent', 'socket'].filter((name) => typeof given[name] === 'string');
  return Object.fromEntries(named.map((name) => [name, given[name]]));
}

function optionNames(options: Options): string[] {
  return visibleOptions<OptionDeclaration>({ ...options, ...GLOBAL_OPTIONS }).map(([name]) => `--${name}`);
}

/** The argument of that number; the last one may take all further ones. */
function argumentAt({ args }: Command, index: number): ArgumentDeclaration | undefined {
  const all = Object.values(args);
  const last = all.at(-1);
  return all[index] ?? (last?.many ? last : undefined);
}

async function valuesOf(
  declared: ArgumentDeclaration | OptionDeclaration | undefined,
  place: Place,
): Promise<readonly string[]> {
  const { choices, complete } = (declared ?? {}) as Pick<ArgumentDeclaration, 'choices' | 'complete'>;
  const values = choices ?? (complete === undefined ? [] : await namesOf(complete, place));
  return values.filter((value) => !place.args.includes(value));
}

async function namesOf(
  complete: Completion,
  { current, args, fleet, profiles }: Place,
): Promise<readonly string[]> {
  switch (complete) {
    case 'command':
      return Object.keys(COMMANDS);
    case 'server':
      return ownNames(await fleet());
    case 'any server':
      return allNames(await fleet());
    case 'tool':
      return offered('tools', current, await fleet());
    case 'prompt':
      return offered('prompts', current, await fleet());
    case 'tool argument':
      return argumentWords(current, args, await fleet());
    case 'resource':
      return resourceUris(args, await fleet());
    case 'profile':
      return profiles();
    default:
      return complete;
  }
}

async function allNames(fleet: Fleet | undefined): Promise<string[]> {
  const servers = fleet === undefined ? [] : (await fleet.status()).servers;
  return [...new Set(servers.map(({ name }) => name))];
}

async function ownNames(fleet: Fleet | undefined): Promise<string[]> {
  return fleet === undefined ? [] : (await ownServers(fleet)).map(({ name }) => name);
}

/** The servers that can be called from here. */
async function ownServers(fleet: Fleet): Promise<ServerStatus[]> {
  return (await fleet.status()).servers.filter(({ other_view }) => other_view !== true);
}

/** First the servers, then the entries of one. A server whose list is not known is not started for it. */
async function offered(kind: NamedList, current: string, fleet: Fleet | undefined): Promise<string[]> {
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

/** The resources of the server before it. A server whose list is not known is not started for it. */
async function resourceUris([server = '']: readonly string[], fleet: Fleet | undefined): Promise<string[]> {
  const servers = fleet === undefined ? [] : await ownServers(fleet);
  if (fleet === undefined || !servers.some(({ name, resources }) => name === server && resources > 0))
    return [];
  return (await fleet.resources(server)).resources.map(({ uri }) => uri);
}

/** The arguments of a tool that are not given yet; behind `NAME=` the values that its schema allows. */
async function argumentWords(
  current: string,
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
  const properties = propertiesOf(tool?.input_schema);
  const written = Object.entries(properties).find(([name]) => current.startsWith(`${name}=`));
  if (written !== undefined) return (choicesOf(written[1]) ?? []).map((choice) => `${written[0]}=${choice}`);
  return Object.keys(properties)
    .filter((name) => !isGiven(name))
    .map((name) => `${name}=`);
}
