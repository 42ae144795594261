import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { explain, overview } from './help-text.js';

export const command = defineCommand({
  name: 'help',
  summary: 'Explains a command; without one, lists all commands.',
  args: { name: { label: 'COMMAND', optional: true, complete: 'command' } },
  examples: ['toolherd help', 'toolherd help validate'],
  async run({ args, output, loadCommand }) {
    const text = args.name === undefined ? overview() : explain(await loadCommand(args.name));
    output.print(text);
    output.json({ help: text });
    return EXIT.ok;
  },
});
