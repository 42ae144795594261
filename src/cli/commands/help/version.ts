import { VERSION } from '../../../shared/version.js';
import type { Command } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

export const verb: Command = {
  usage: 'version',
  about: 'Prints the version of toolherd and of the Node it runs on.',
  help: 'Example:\n  toolherd version\n  toolherd version --json',
  options: {},
  most: 0,
  async run({ output }) {
    output.print(`toolherd ${VERSION} (node ${process.version})`);
    output.json({ version: VERSION, node: process.version });
    return EXIT.ok;
  },
};
