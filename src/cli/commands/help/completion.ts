import { loadBundle } from '../../../bin/load-bundle.js';
import { withTimeout } from '../../../shared/async.js';
import { systemClock } from '../../../shared/clock.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand, type Globals } from '../../core/command.js';
import { openFleet } from '../../daemon/connect.js';
import { candidates, type Sources } from './completion/candidates.js';
import { SCRIPTS, SHELLS } from './completion/scripts.js';

/** A person has pressed Tab and waits. */
const PATIENCE_MS = 1000;

export const command = defineCommand({
  name: 'completion',
  summary: 'Prints a script that completes commands, options, servers and tools.',
  details: `The names of servers, tools and their arguments come from the running daemon,
those of profiles from the config files.
Completion starts nothing.`,
  args: { shell: { choices: SHELLS, unless: 'at' } },
  options: {
    at: { type: 'integer', hidden: true, about: 'complete the word of this number behind --' },
  },
  passthrough: { label: 'WORD…', hidden: true },
  examples: [
    ['source <(toolherd completion bash)', 'in ~/.bashrc'],
    ['source <(toolherd completion zsh)', 'in ~/.zshrc, after compinit'],
    ['toolherd completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  ownTimeout: true,
  async run(context) {
    const { args, options, output, passthrough } = context;
    if (options.at !== undefined) return complete(context, passthrough ?? [], options.at);
    const shell = args.shell!;
    const script = SCRIPTS[shell];
    if (!output.isJson) output.printRaw(script);
    output.json({ shell, script });
    return EXIT.ok;
  },
});

async function complete(context: CommandContext, words: readonly string[], at: number): Promise<number> {
  let close = () => {};
  const within = (given: Partial<Globals>) => ({ ...context, globals: { ...context.globals, ...given } });
  const findFleet: Sources['findFleet'] = async (given) => {
    try {
      const opened = await openFleet(within(given), false, 'if allowed');
      close = opened.close;
      return opened.fleet;
    } catch {
      return undefined;
    }
  };
  // in a separate bundle: to read a config needs modules that other completions do without
  const findProfiles: Sources['findProfiles'] = (given) =>
    loadBundle<typeof import('../../core/known-servers.js')>('known-servers').configuredProfiles(
      within(given),
    );
  const sources = { findFleet, findProfiles };
  const found = candidates(words, at, context.loadCommand, sources).catch(() => []);
  const fitting = (await withTimeout(PATIENCE_MS, found, systemClock)) ?? [];
  close();
  context.output.json({ words: fitting });
  if (fitting.length > 0) context.output.print(fitting.join('\n'));
  return EXIT.ok;
}
