import { TRANSPORT_NAMES, TRANSPORTS } from '../../../config/fields/transports.js';
import { addedJson, addServer } from '../../../install/add-server.js';
import { chosenFile, globalFile } from '../../../install/config-target.js';
import { formatRequirement } from '../../../install/registry-format.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { defineCommand } from '../../core/command.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { singleLine } from '../../ui/text.js';

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
    const dryRun = options['dry-run'];
    const added = await addServer(context, target, source, {
      dryRun,
      allowCommand: options['allow-command'],
      tell: () => notifyConfigChange(context),
    });
    const { entry, registryName, version, warnings, allowing, unset } = added;
    output.json(addedJson(added));
    for (const warning of warnings) output.note(`warning: ${singleLine(warning)}`);
    const origin = registryName === undefined ? '' : ` (${registryName} ${version})`;
    output.print(dryRun ? added.diff : singleLine(`added: ${entry.name}${origin} to ${target.file}`));
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
    if (added.taken.length > 0)
      output.note(
        singleLine(
          `these variables are set and are passed to it: ${added.taken.map(({ name }) => name).join(', ')}`,
        ),
      );
    if (!added.isAllowed)
      output.note(
        `the file is not allowed to run yet: read it, then: toolherd allow ${shellWord(target.file)}`,
      );
    const next = `toolherd tools ${shellWord(entry.name)}, then toolherd call ${shellWord(`${entry.name}.TOOL`)}`;
    output.note(dryRun ? 'nothing was written (--dry-run)' : `next: ${next}`);
    return EXIT.ok;
  },
});
