import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { explainServer } from './explain.js';

export const command = defineCommand({
  name: 'why',
  summary: 'Tells what happened to a server, what happens next and what you can do.',
  args: { server: { complete: 'any server' } },
  examples: ['toolherd why github', ['toolherd why github -v', 'every step of its statecharts']],
  exits: { ok: 'ok', notRunning: 'no daemon runs', notFound: 'no such server' },
  async run(context) {
    const { args, globals, output } = context;
    const fleet = await context.fleet({ autostart: false });
    const inspection = await fleet.inspect(args.server);
    const { status, snapshot, journal } = inspection;
    output.json({ server: args.server, status, snapshot, journal });
    output.print(explainServer(inspection, Date.now(), globals.verbose, context.environment));
    return EXIT.ok;
  },
});
