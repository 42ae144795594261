import type { McpResult } from '../../../fleet/fleet.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { singleLine } from '../../ui/text.js';
import { parseArguments } from './parse-arguments.js';
import { findTarget } from './resolve-target.js';

export const verb: Command = {
  usage: 'prompt SERVER.NAME [k=v]…',
  about: `Fills in a prompt and prints the text of its messages; where there are several, each under who is to say it.`,
  help: `Examples:
  toolherd prompt everything.simple-prompt
  toolherd prompt everything.args-prompt city=Berlin state=Berlin
  toolherd prompt everything.args-prompt city=Berlin --json      the whole result

Exit status: 0 ok, 1 the server failed, 4 no such server or prompt, 124 timeout.`,
  options: {},
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const [target, ...words] = call.args;
    if (target === undefined) {
      throw new UsageError('name a prompt', 'usage: toolherd prompt SERVER.NAME [k=v]…');
    }
    const given = words.length === 0 ? undefined : parseArguments(words, undefined, undefined);
    const fleet = await call.fleet();
    const { server, name } = await findTarget(fleet, target, 'prompt');
    const timeout = call.flags.timeout as string | undefined;
    const result = await fleet.prompt({
      server,
      name,
      arguments: given,
      timeout_ms: timeout === undefined ? undefined : parseDuration(timeout),
    });
    show(call, result);
    return EXIT.ok;
  },
};

/** As the server made it: any part may be missing. */
interface Message {
  role?: unknown;
  content?: { type?: unknown; text?: unknown } | null;
}

function show({ output }: CommandContext, result: McpResult): void {
  output.json({ result });
  const messages = Array.isArray(result.messages) ? result.messages : [];
  for (const message of messages as (Message | null)[]) {
    const { role, content } = message ?? {};
    if (messages.length > 1) output.print(singleLine(`[${String(role)}]`));
    if (typeof content?.text === 'string') output.printRaw(`${content.text}\n`);
    else output.note(singleLine(`(${String(content?.type)} content; see --json)`));
  }
  if (messages.length === 0) output.note('it is empty');
}
