import { VERSION } from '../../../shared/version.js';
import { defineCommand } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

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
