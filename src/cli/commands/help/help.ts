import { COMMANDS } from '../../commands.js';
import type { Command } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

const GLOBAL_HELP = `Options for every command:
  --json              stable output for scripts (api_version 1)
  --config FILE       another global config than ~/.config/toolherd/config.yaml
  --agent FILE        an agent.yaml; default: the nearest one upward of here
  --socket PATH       another daemon's socket
  --timeout 30s       give up after this time
  -q, --quiet         only data and errors
  -v, --verbose       say more
  --no-color          no colours (also: NO_COLOR)
  --no-autostart      do not start the daemon
  -h, --help          this help`;

export const verb: Command = {
  usage: 'help [COMMAND]',
  about: 'Explains a command.',
  help: 'Example:\n  toolherd help validate',
  options: {},
  most: 1,
  async run({ args: [name], output, loadVerb }) {
    const text = name === undefined ? overview() : explain(await loadVerb(name));
    output.print(text);
    output.json({ help: text });
    return EXIT.ok;
  },
};

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
  return [
    'toolherd: keeps MCP servers alive and shares them among your agents.',
    '',
    'Usage: toolherd COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...lines,
    '',
    GLOBAL_HELP,
    '',
    "Try: toolherd validate, or 'toolherd help COMMAND' for examples.",
  ].join('\n');
}

function explain({ usage, about, help }: Command): string {
  return [`Usage: toolherd ${usage}`, '', about, '', help, '', GLOBAL_HELP].join('\n');
}
