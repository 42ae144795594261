import type { McpResult } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';
import { findTarget } from './find-target.js';
import { parseArguments } from './parse-arguments.js';

export const command = defineCommand({
  name: 'prompt',
  summary: 'Fills in a prompt and prints the text of its messages.',
  details: 'If there are several messages, each one is printed under its role.',
  args: {
    target: { label: 'SERVER.NAME', noun: 'prompt', complete: 'prompt' },
    words: { label: 'k=v', optional: true, many: true },
  },
  examples: [
    'toolherd prompt everything.simple-prompt',
    'toolherd prompt everything.args-prompt city=Berlin state=Berlin',
    ['toolherd prompt everything.simple-prompt --json', 'the whole result'],
  ],
  exits: {
    ok: 'ok',
    failed: 'the server failed',
    notFound: 'no such server or prompt',
    cannotReach: 'the server cannot be reached',
    notAllowed: 'the server needs authorisation',
    badConfig: 'the entry of the server cannot be resolved',
  },
  ownTimeout: true,
  async run(context) {
    const { args, globals } = context;
    const given = args.words.length === 0 ? undefined : parseArguments(args.words, undefined, undefined);
    const fleet = await context.fleet();
    const { server, name } = await findTarget(fleet, args.target, { kind: 'prompt', words: args.words });
    show(context, await fleet.prompt({ server, name, arguments: given, timeout_ms: globals.timeout }));
    return EXIT.ok;
  },
});

/** As the server sent it: any part may be missing. */
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
  if (messages.length === 0) output.note('the prompt has no messages');
}
