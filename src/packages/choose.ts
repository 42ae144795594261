import { delimiter, join } from 'node:path';
import type { JsonObject } from '../shared/json.js';
import { binsOf, chooseBin } from './bins.js';
import type { Launch, PackageEntry } from './entry.js';
import { findProgram, isFile, isProgram, readJson } from './files.js';
import type { GlobalPrefixes, PrefixSource } from './global-prefix.js';
import { influenceOf } from './influence.js';
import type { InstallOrder, NpmContext } from './installer.js';
import { binFolders, launchFile } from './launch-file.js';
import { findNpm } from './npm.js';
import { npmSettings } from './npm-settings.js';
import { type NpxCommand, parseNpx } from './npx-command.js';
import { findProject } from './project.js';

/** A package of the store, or one that is to be installed there. */
export type Wanted = Omit<InstallOrder, 'isUpdate'>;

/** What npx would do with an entry, by what is on the disk now. */
export type Choice =
  | { kind: 'plain'; why: string }
  /** A package that npx finds before it looks at the registry. `version`: where it is known. */
  | { kind: 'found'; command: NpxCommand; version: string | undefined; where: string; launch: Launch }
  | { kind: 'store'; wanted: Wanted }
  /** npm has to say first where its global packages are. */
  | { kind: 'ask'; source: PrefixSource };

export interface ChooseOptions {
  runner: 'direct' | 'plain';
  runsScripts: boolean;
  prefixes: Pick<GlobalPrefixes, 'of'>;
  /** Variables of what is started. */
  env: Launch['env'];
}

/** Settings with which npx does something else than to run one command of one package. */
const UNRESOLVED =
  /^npm_config_(?:(?:call|package|workspaces?|script_shell)=|global=true$|location=global$|yes=false$)/;

/** In the order of npx (libnpmexec/lib/index.js of npm): the folder's packages, the global ones, the registry. */
export function choose(entry: PackageEntry, options: ChooseOptions): Choice {
  const command = parseNpx(entry.args);
  if (entry.runner === 'plain') return plain("its entry says 'runner: plain'");
  if (entry.runner === undefined && options.runner === 'plain')
    return plain("the config says 'daemon.runner: plain'");
  if ('plain' in command) return plain(command.plain);
  const env = entry.env('');
  const program = findNpm(entry.command, env.PATH ?? '');
  if (program === undefined) return plain("the npx that it runs is not npm's own");
  const settings = npmSettings(env);
  const odd = settings.find(([name, value]) => UNRESOLVED.test(`${name}=${value}`));
  if (odd !== undefined) return plain(`${odd[0]} is not resolved`);
  const userConfig = settings.find(([name]) => name === 'npm_config_userconfig')?.[1];
  const source: PrefixSource = {
    npm: { program, env: entry.env, server: entry.server },
    userFile: userConfig ?? join(env.HOME ?? '/', '.npmrc'),
    env,
  };
  const project = findProject(entry.cwd, source.userFile);
  if (project.isInWorkspaces) return plain('its folder is in one of workspaces');
  if (command.bin === undefined && Object.hasOwn(binsOf(project.manifest ?? {}), command.raw))
    return plain(`the package of its folder ${project.folder} has this command`);
  const lookup = { entry, command, env, start: options.env };
  const local = inFolder(lookup, project.folder);
  if (local !== undefined) return local;
  // they may name another registry: npm would read them in that folder only
  if (project.hasSettings) return plain(`its folder ${project.folder} has settings of npm (.npmrc)`);
  const prefix = command.bin === undefined ? options.prefixes.of(source) : '';
  if (prefix === undefined) return { kind: 'ask', source };
  return inGlobal(lookup, project.folder, prefix) ?? inStore(lookup, source.npm, options.runsScripts);
}

/** What is looked for, and where. */
interface Lookup {
  entry: PackageEntry;
  command: NpxCommand;
  env: Readonly<Record<string, string>>;
  start: Launch['env'];
}

function plain(why: string): Choice {
  return { kind: 'plain', why };
}

/** A command of this name, or the package, in the node_modules of the folder. */
function inFolder({ entry, command, env, start }: Lookup, folder: string): Choice | undefined {
  const where = 'from the node_modules of its folder';
  const path = binFolders(entry.cwd);
  const bins =
    command.bin === undefined ? binFolders(folder).find((one) => isFile(join(one, command.raw))) : undefined;
  if (bins !== undefined) {
    const launch = launchFile(join(bins, command.raw), command.args, [bins, ...path], start);
    return { kind: 'found', command, version: undefined, where, launch };
  }
  const manifest = readJson(join(folder, 'node_modules', command.name, 'package.json'));
  const match = matchOf(command, manifest);
  if (match === 'unknown') return plain(`only npm can tell whether ${folder} has ${command.raw}`);
  if (match === 'no') return undefined;
  const bin = command.bin ?? chooseBin(command.name, binsOf(manifest!));
  const file = bin && findProgram(bin, [...path, ...(env.PATH ?? '').split(delimiter)]);
  if (!file) return plain(`the package in ${folder} has no such command`);
  const launch = launchFile(file, command.args, path, start);
  return { kind: 'found', command, version: versionOf(manifest), where, launch };
}

/** The same of the packages that are installed for all folders. npx looks there only where no command is named. */
function inGlobal(lookup: Lookup, folder: string, prefix: string): Choice | undefined {
  const { entry, command, start } = lookup;
  if (prefix === '' || prefix === folder) return undefined;
  const where = `from the global packages in ${prefix}`;
  const bins = join(prefix, 'bin');
  const launch = (bin: string) =>
    launchFile(join(bins, bin), command.args, [bins, ...binFolders(entry.cwd)], start);
  if (isFile(join(bins, command.raw)))
    return { kind: 'found', command, version: undefined, where, launch: launch(command.raw) };
  const manifest = readJson(join(prefix, 'lib', 'node_modules', command.name, 'package.json'));
  const match = matchOf(command, manifest);
  if (match === 'unknown') return plain(`only npm can tell whether ${prefix} has ${command.raw}`);
  const bin = match === 'yes' ? chooseBin(command.name, binsOf(manifest!)) : undefined;
  if (bin === undefined || !isProgram(join(bins, bin))) return undefined;
  return { kind: 'found', command, version: versionOf(manifest), where, launch: launch(bin) };
}

function inStore({ entry, command, env }: Lookup, npm: NpmContext, runsScripts: boolean): Choice {
  const influence = influenceOf(env, entry.declared, runsScripts);
  return { kind: 'store', wanted: { command, influence, npm, runsScripts, update: entry.update } };
}

/**
 * Whether npx takes an installed package for the one that was asked for. For a tag it compares addresses of tarballs, which
 * an installed package does not have.
 */
function matchOf({ kind, version }: NpxCommand, manifest: JsonObject | undefined): 'yes' | 'no' | 'unknown' {
  if (manifest === undefined || kind === 'tag') return 'no';
  if (version === '' || version === '*') return 'yes';
  if (kind === 'exact') return manifest.version === version ? 'yes' : 'no';
  return 'unknown';
}

function versionOf(manifest: JsonObject | undefined): string | undefined {
  return typeof manifest?.version === 'string' ? manifest.version : undefined;
}
