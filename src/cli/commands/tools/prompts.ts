import type { PromptEntry } from '../../../fleet/fleet.js';
import type { Command } from '../../core/command.js';
import { withTimeout } from '../../core/timeout.js';
import { firstLine } from '../../ui/first-line.js';
import { table } from '../../ui/table.js';
import { warnAboutBadDefinitions, warnAboutMissingLists } from './list-warnings.js';
import { showStartProgress } from './start-progress.js';

export const verb: Command = {
  usage: 'prompts [SERVER] [--refresh]',
  about: `Lists the prompts of the herd, or of one server, with their arguments: those in [brackets] may be left out.
A server that has never run is started for it; of one that rests, what it last offered is shown. The list of the herd waits at most
daemon.list_wait (2 s) for servers that start. With SERVER or --refresh it waits until they have started. stderr names the
lists that are missing.`,
  help: `Examples:
  toolherd prompts
  toolherd prompts everything
  toolherd prompts everything --refresh      ask the server again; start it if need be

Exit status: 0 ok, 1 the one server that was named could not be asked, 4 no such server,
69 it cannot be reached, 77 it needs authorisation.`,
  options: { refresh: { type: 'boolean' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const asked = showStartProgress(call, fleet, args[0], fleet.prompts(args[0], flags.refresh === true));
    const { prompts, missing } = await withTimeout(call, asked);
    output.json({ prompts, missing });
    warnAboutBadDefinitions(
      output,
      { entries: prompts, missing },
      (index) => `${prompts[index]?.server}.${prompts[index]?.name}`,
    );
    const status = await warnAboutMissingLists(call, fleet, { entries: prompts, missing }, args[0]);
    const rows = prompts.map((prompt) => [
      `${prompt.server}.${prompt.name}${prompt.problem === undefined ? '' : ' !'}`,
      argumentsOf(prompt),
      firstLine(prompt.description),
    ]);
    const header = ['PROMPT', 'ARGUMENTS', 'DESCRIPTION'];
    output.print(rows.length === 0 ? 'no prompts' : table(header, rows, output.columns));
    return status;
  },
};

function argumentsOf({ arguments: wanted }: PromptEntry): string {
  const names = wanted.map((one) => {
    const { name, required } = (one ?? {}) as { name?: unknown; required?: unknown };
    return required === true ? String(name) : `[${String(name)}]`;
  });
  return names.length === 0 ? '-' : names.join(' ');
}
