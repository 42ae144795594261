import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { runProgram } from '../../core/run-program.js';

export const command = defineCommand({
  name: 'ui',
  summary: 'Opens the page of the herd in your browser.',
  details: `The daemon serves the page on this machine only, while you look at it.
The link works once, within a minute.`,
  options: { print: { type: 'boolean', about: 'only print the link' } },
  examples: ['toolherd ui', 'toolherd ui --print'],
  async run(context) {
    const { options, output, environment } = context;
    const fleet = await context.fleet({ viewMode: 'herd' });
    const link = await fleet.ui();
    output.json({ ...link });
    if (options.print || output.isJson) {
      output.print(link.url);
      return EXIT.ok;
    }
    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
    const { status } = await runProgram([opener, link.url], { ...environment });
    if (status === 0) output.note('opened the page in your browser');
    else output.print(link.url);
    return EXIT.ok;
  },
});
