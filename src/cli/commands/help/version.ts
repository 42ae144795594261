import { EXIT } from '../../../shared/report/exit-codes.js';
import { VERSION } from '../../../shared/version.js';
import { defineCommand } from '../../core/command.js';

export const command = defineCommand({
  name: 'version',
  summary: 'Prints the version of toolherd and of the Node it runs on.',
  examples: ['toolherd version', 'toolherd version --json'],
  async run({ output }) {
    output.print(`toolherd ${VERSION} (node ${process.version})`);
    output.json({ version: VERSION, node: process.version });
    return EXIT.ok;
  },
});
