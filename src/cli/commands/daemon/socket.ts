import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { socketOf } from '../../daemon/connect.js';

export const command = defineCommand({
  name: 'socket',
  summary: 'Prints the path of the socket, whether or not a daemon runs.',
  details: 'Scripts connect to it: see docs/PROTOCOL.md.',
  examples: ['toolherd socket', 'socat -t 60 - UNIX-CONNECT:"$(toolherd socket)"'],
  async run(context) {
    const path = socketOf(context);
    context.output.print(path);
    context.output.json({ path });
    return EXIT.ok;
  },
});
