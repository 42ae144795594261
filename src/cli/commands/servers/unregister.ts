import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';

export const command = defineCommand({
  name: 'unregister',
  summary: 'Stops a registered server and removes it. The config stays as it is.',
  args: { name: { noun: 'server', complete: 'server' } },
  examples: ['toolherd unregister plugin'],
  exits: {
    ok: 'ok',
    notFound: 'no such server',
    badConfig: 'the server is in the config',
  },
  async run({ args, output, fleet: connect }) {
    const fleet = await connect({ viewMode: 'herd' });
    const servers = await fleet.unregister(args.name);
    output.json({ servers });
    output.print(`unregistered: ${args.name}`);
    return EXIT.ok;
  },
});
