import { shellWord } from '../../../shared/shell-word.js';
import type { Command, CommandContext } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { lineDiff } from '../../ui/line-diff.js';
import { singleLine } from '../../ui/text.js';
import { formatRequirement, requirementJson } from '../registry/requirements.js';
import { type NewEntry, newEntry } from './build-entry.js';
import { type ConfigFile, chosenFile, globalFile } from './config-file.js';
import { editConfigFile } from './edit-config-file.js';
import { planInsert } from './entry-conflicts.js';
import { entriesIn } from './installed.js';

export const verb: Command = {
  usage:
    'add NAME[@VERSION] [-g] [--transport T] [--name N] [--env K=V]… [--dry-run] [-- COMMAND ARGS… | --url URL]',
  about: `Adds a server to the nearest agent.yaml (made here where there is none), or with -g to the global config: one of the
registry, a command of your own, or a url. Comments and order of the file stay as they are; a running daemon takes it up.`,
  help: `Examples:
  toolherd search filesystem
  toolherd add io.github.upstash/context7
  toolherd add io.github.upstash/context7 -g --dry-run       show the change, write nothing
  toolherd add io.github.upstash/context7 --transport http   reach it instead of running it
  toolherd add memory -- npx -y @modelcontextprotocol/server-memory
  toolherd add docs --url https://example.com/mcp

What a server needs is written as \${NAME} and filled in from the environment when it starts; --env gives it another value, which may
hold variables itself. A short name that another server of the registry has already is not taken: use --name.

Exit status: 0 ok, 1 refused (it is there already, the name is taken, or it cannot be run here), 4 the registry has no such
server, 69 the registry cannot be reached, 78 something is wrong with the file or the entry.`,
  options: {
    global: { type: 'boolean', short: 'g' },
    transport: { type: 'string' },
    name: { type: 'string' },
    env: { type: 'string', multiple: true },
    url: { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  most: 1,
  takesCommand: true,
  async run(call) {
    const { flags, output } = call;
    const target = chosenFile(call);
    const fresh = await newEntry(call, target);
    const { entry, registryName, version, warnings } = fresh;
    const dryRun = flags['dry-run'] === true;
    const unset = unsetNeeds(call, fresh);
    const edited = await editConfigFile(
      call,
      target,
      (text) => planInsert(text, target, fresh, (words) => void warnings.push(words), output.note),
      { dryRun, tell: true },
    );
    warnings.push(...overrides(call, target, entry.name));
    const diff = lineDiff(target.file, edited.before, edited.after);
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
        set: !unset.includes(need) && isSet(call, fresh, need.name),
      })),
      allowed: edited.isAllowed,
      warnings,
    });
    for (const warning of warnings) output.note(`warning: ${singleLine(warning)}`);
    const origin = registryName === undefined ? '' : ` (${registryName} ${version})`;
    output.print(dryRun ? diff : singleLine(`added: ${entry.name}${origin} to ${target.file}`));
    if (unset.length > 0) {
      const lines = unset.map((need) => `  ${singleLine(formatRequirement(need))}`);
      output.note(['it needs these variables, which are not set:', ...lines].join('\n'));
      const meanwhile = target.scope === 'global' ? 'this server does not run' : 'the file cannot be loaded';
      output.note(
        `set them where the daemon is started, then: toolherd up --replace; until then ${meanwhile}`,
      );
    }
    const taken = fresh.needs.filter(({ name }) => isTaken(call, fresh, name));
    if (taken.length > 0)
      output.note(singleLine(`it is given what is set as: ${taken.map(({ name }) => name).join(', ')}`));
    if (!edited.isAllowed)
      output.note(
        `the file is not allowed to run yet: read it, then: toolherd allow ${shellWord(target.file)}`,
      );
    const next = `toolherd tools ${shellWord(entry.name)}, then toolherd call ${shellWord(`${entry.name}.TOOL`)}`;
    output.note(dryRun ? 'nothing was written (--dry-run)' : `next: ${next}`);
    return EXIT.ok;
  },
};

function unsetNeeds(call: CommandContext, fresh: NewEntry): NewEntry['needs'] {
  return fresh.needs.filter((need) => !need.isOptional && !isSet(call, fresh, need.name));
}

function isSet(call: CommandContext, fresh: NewEntry, name: string): boolean {
  return isGiven(fresh, name) || isTaken(call, fresh, name);
}

function isGiven({ entry }: NewEntry, name: string): boolean {
  const own = (entry.env as Record<string, string> | undefined)?.[name];
  return own !== undefined && !own.includes(`\${${name}`);
}

/** By the environment of this command; the daemon's may be another. Whose variable it is the name does not tell. */
function isTaken({ environment }: CommandContext, fresh: NewEntry, name: string): boolean {
  return !isGiven(fresh, name) && environment[name] !== undefined;
}

function overrides(call: CommandContext, target: ConfigFile, name: string): string[] {
  if (target.scope === 'global' || entriesIn(globalFile(call)).every((entry) => entry.name !== name))
    return [];
  return [`here it takes the place of '${name}' in the global config`];
}
