import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { explainServer } from './explain.js';

export const verb: Command = {
  usage: 'why SERVER [-v]',
  about: 'Tells the story of a server: what happened, what toolherd did, what happens next, what you can do.',
  help: `Examples:
  toolherd why github
  toolherd why github -v        every step that its statecharts took`,
  options: {},
  most: 1,
  async run(call) {
    const [name] = call.args;
    if (name === undefined) throw new UsageError('name a server', 'usage: toolherd why SERVER');
    const fleet = await call.fleet();
    const inspection = await withTimeout(call, fleet.inspect(name));
    const { status, snapshot, journal } = inspection;
    call.output.json({ server: name, status, snapshot, journal });
    const isVerbose = call.flags.verbose === true;
    call.output.print(explainServer(inspection, Date.now(), isVerbose, call.environment));
    return EXIT.ok;
  },
};
