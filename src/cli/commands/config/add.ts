import { applyEdit } from '../../../config/edit/index.js';
import { TRANSPORT_NAMES, TRANSPORTS } from '../../../config/fields/transports.js';
import { ConfigError } from '../../../config/parse/problem.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { fileDiff } from '../../ui/line-diff.js';
import { singleLine } from '../../ui/text.js';
import { formatRequirement, requirementJson } from '../registry/format.js';
import { allowCommands, commandsToAllow, UnwrittenEntryError } from './allow-commands.js';
import { type ConfigFile, chosenFile, globalFile } from './config-target.js';
import { editConfigFile } from './edit-config-file.js';
import { entriesIn, ourEntries } from './install-state.js';
import { type NewEntry, newEntry } from './new-entry.js';
import { planInsert } from './plan-insert.js';
import { unsetVariables } from './unset-variables.js';

export const command = defineCommand({
  name: 'add',
  summary: 'Adds a server to the nearest agent.yaml, or with -g to the global config.',
  details: `The server comes from the registry, or runs a command (-- COMMAND ARG…), or is
reached at a URL (--url). COMMAND is npx, uvx, docker, or one of
security.allowed_commands in the global config; --allow-command adds it there.
If there is no agent.yaml, a new one is written here.
Comments and order of the file stay as they are.
A running daemon adds the server at once.
A variable that the server needs is written as \${NAME}: the daemon fills it in
from its environment.
--env writes another value, --header a header of a remote server. Both may have
variables; write a secret as '\${NAME}', so that the file does not hold it.
If another server of the registry has the same short name, use --name.`,
  args: {
    name: {
      label: 'NAME[@VERSION]',
      noun: 'server',
      hint: 'see "toolherd search", or "toolherd help add"',
    },
  },
  options: {
    global: { type: 'boolean', short: 'g', about: 'add it to the global config' },
    url: { type: 'string', about: 'the address of a remote server' },
    transport: {
      type: 'string',
      label: 'T',
      choices: TRANSPORT_NAMES,
      complete: TRANSPORTS,
      about: TRANSPORTS.join(', '),
    },
    name: { type: 'string', label: 'N', about: 'another short name for a server of the registry' },
    env: { type: 'string', label: 'K=V', many: true, about: 'a variable for the server' },
    header: { type: 'string', label: 'K=V', many: true, about: 'a header for a remote server' },
    cwd: { type: 'string', label: 'DIR', about: 'the folder that the command runs in' },
    'allow-command': { type: 'boolean', about: 'allow COMMAND in the global config' },
    'dry-run': { type: 'boolean', about: 'show the change, write nothing' },
  },
  passthrough: { label: 'COMMAND ARG…' },
  examples: [
    'toolherd add io.github.upstash/context7',
    'toolherd add io.github.upstash/context7 -g --dry-run',
    'toolherd add io.github.upstash/context7 --transport http',
    'toolherd add memory -- npx -y @modelcontextprotocol/server-memory',
    'toolherd add mine --allow-command -- node ./server.js',
    "toolherd add docs --url https://example.com/mcp --header 'X-Key=${DOCS_KEY}'",
  ],
  exits: {
    ok: 'ok',
    failed: 'the server is there already, its name is taken, or it cannot run here',
    notFound: 'the registry has no such server',
    cannotReach: 'the registry cannot be reached',
    badConfig: 'the file or the entry is wrong',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options, output, passthrough } = context;
    const target = chosenFile(context, options.global);
    const { url, transport, env, header: headers, cwd, name: shortName } = options;
    const source = { name: args.name, command: passthrough, url, transport, env, headers, cwd, shortName };
    const fresh = await newEntry(context, target, source);
    const { entry, registryName, version, warnings } = fresh;
    const dryRun = options['dry-run'];
    const unset = unsetNeeds(context, fresh);
    const allowing = commandsToAllow(context, entry, options['allow-command']);
    let place = '';
    const plan = (text: string, warn: (words: string) => void) => {
      const edit = planInsert(text, target, fresh, warn, output.note);
      const last = ourEntries(applyEdit(text, edit), target).findLast(({ name }) => name === entry.name);
      place = `${target.key}[${last?.index}]`;
      return edit;
    };
    const insert = (text: string) => plan(text, (words) => void warnings.push(words));
    const refuse = (error: unknown): never => {
      throw withoutPlace(error, place);
    };
    if (allowing.length > 0 && !dryRun) {
      // nothing is allowed for an entry that cannot be written
      const check = (text: string) => plan(text, () => undefined);
      await editConfigFile(context, target, check, { dryRun: true, tell: false, allowing }).catch(refuse);
      await allowCommands(context, allowing);
    }
    const edited = await editConfigFile(context, target, insert, {
      dryRun,
      tell: true,
      allowing: dryRun ? allowing : [],
    }).catch(refuse);
    warnings.push(...overrides(context, target, entry.name));
    if (!dryRun) {
      const added = ourEntries(edited.after, target).filter(({ name }) => name === entry.name);
      const told = unset.map(({ name }) => name);
      warnings.push(...(await unsetVariables(context, target, added, told)));
    }
    const diff = fileDiff(target.file, edited.before, edited.after);
    output.json({
      ok: true,
      name: entry.name,
      registry_name: registryName ?? null,
      version: version ?? null,
      scope: target.scope,
      file: target.file,
      dry_run: dryRun,
      diff,
      needs: fresh.needs.map((need) => ({
        ...requirementJson(need),
        set: !unset.includes(need) && isSet(context, fresh, need.name),
      })),
      allowed: edited.isAllowed,
      allowed_command: allowing[0] ?? null,
      warnings,
    });
    for (const warning of warnings) output.note(`warning: ${singleLine(warning)}`);
    const origin = registryName === undefined ? '' : ` (${registryName} ${version})`;
    output.print(dryRun ? diff : singleLine(`added: ${entry.name}${origin} to ${target.file}`));
    for (const one of allowing) {
      const would = dryRun ? 'would be allowed' : 'allowed';
      output.note(singleLine(`${would}: ${one} (security.allowed_commands in ${globalFile(context).file})`));
    }
    if (unset.length > 0) {
      const lines = unset.map((need) => `  ${singleLine(formatRequirement(need))}`);
      output.note(['it needs these variables, which are not set:', ...lines].join('\n'));
      const meanwhile = target.scope === 'global' ? 'this server does not run' : 'the file cannot be loaded';
      output.note(
        `set them where the daemon is started, then: toolherd up --replace; until then ${meanwhile}`,
      );
    }
    const taken = fresh.needs.filter(({ name }) => isTaken(context, fresh, name));
    if (taken.length > 0)
      output.note(
        singleLine(
          `these variables are set and are passed to it: ${taken.map(({ name }) => name).join(', ')}`,
        ),
      );
    if (!edited.isAllowed)
      output.note(
        `the file is not allowed to run yet: read it, then: toolherd allow ${shellWord(target.file)}`,
      );
    const next = `toolherd tools ${shellWord(entry.name)}, then toolherd call ${shellWord(`${entry.name}.TOOL`)}`;
    output.note(dryRun ? 'nothing was written (--dry-run)' : `next: ${next}`);
    return EXIT.ok;
  },
});

/** The file does not have the entry, so a problem of it has no position there. `place`: where it would be. */
function withoutPlace(error: unknown, place: string): unknown {
  if (!(error instanceof ConfigError)) return error;
  const { problems } = error;
  if (place === '' || !problems.every(({ path }) => path.startsWith(place))) return error;
  return new UnwrittenEntryError(problems.map(({ message }) => message).join('; '), {
    why: 'nothing was written: the entry would be wrong',
    fix: [...new Set(problems.map(({ fix }) => fix))].join('; '),
  });
}

function unsetNeeds(context: CommandContext, fresh: NewEntry): NewEntry['needs'] {
  return fresh.needs.filter((need) => !need.isOptional && !isSet(context, fresh, need.name));
}

function isSet(context: CommandContext, fresh: NewEntry, name: string): boolean {
  return isGiven(fresh, name) || isTaken(context, fresh, name);
}

function isGiven({ entry }: NewEntry, name: string): boolean {
  const own = (entry.env as Record<string, string> | undefined)?.[name];
  return own !== undefined && !own.includes(`\${${name}`);
}

/** In the environment of this command; that of the daemon may differ. */
function isTaken({ environment }: CommandContext, fresh: NewEntry, name: string): boolean {
  return !isGiven(fresh, name) && environment[name] !== undefined;
}

function overrides(context: CommandContext, target: ConfigFile, name: string): string[] {
  if (target.scope === 'global' || entriesIn(globalFile(context)).every((entry) => entry.name !== name))
    return [];
  return [`in this project it overrides '${name}' of the global config`];
}
