import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { openFleet } from '../../daemon/connect.js';
import { candidates, type FindFleet } from './completion/candidates.js';
import { SCRIPTS, SHELLS, type Shell } from './completion/scripts.js';

/** Somebody has pressed Tab and waits. */
const PATIENCE_MS = 1000;

export const verb: Command = {
  usage: 'completion bash|zsh|fish',
  about: `Prints a script that completes commands, options, and the names of servers, tools and their arguments, as the
running herd knows them. Nothing is started for it.`,
  help: `Examples:
  source <(toolherd completion bash)            in ~/.bashrc
  source <(toolherd completion zsh)             in ~/.zshrc, after compinit
  toolherd completion fish | source             in ~/.config/fish/config.fish`,
  options: { at: { type: 'string' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const { args, flags, output } = call;
    if (typeof flags.at === 'string') return complete(call, Number(flags.at));
    const [shell] = args;
    const known = SHELLS.find((name) => name === shell);
    if (known === undefined || args.length > 1) {
      const what = shell === undefined ? 'name a shell' : `there is no completion for '${args.join(' ')}'`;
      throw new UsageError(what, `usage: toolherd completion ${SHELLS.join('|')}`);
    }
    print(call, known);
    output.json({ shell: known, script: SCRIPTS[known] });
    return EXIT.ok;
  },
};

function print({ output }: CommandContext, shell: Shell): void {
  if (!output.isJson) output.printRaw(SCRIPTS[shell]);
}

async function complete(call: CommandContext, at: number): Promise<number> {
  let close = () => {};
  const findFleet: FindFleet = async (flags) => {
    try {
      const opened = await openFleet({ ...call, flags }, false, 'if allowed');
      close = opened.close;
      return opened.fleet;
    } catch {
      return undefined;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), PATIENCE_MS);
  });
  const found = candidates(call.args, at, call.loadVerb, findFleet).catch(() => []);
  const words = await Promise.race([found, late]);
  clearTimeout(timer);
  close();
  call.output.json({ words });
  if (words.length > 0) call.output.print(words.join('\n'));
  return EXIT.ok;
}
