import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

export const verb: Command = {
  usage: 'unregister NAME',
  about: 'Stops a server that was registered, and forgets it. What is in the config stays.',
  help: 'Example:\n  toolherd unregister plugin\n\nExit status: 0 ok, 4 no such server, 78 it is in the config.',
  options: {},
  most: 1,
  async run(call) {
    const [name] = call.args;
    if (name === undefined) throw new UsageError('name a server', 'usage: toolherd unregister NAME');
    const fleet = await call.fleet({ viewMode: 'herd' });
    const servers = await fleet.unregister(name);
    call.output.json({ servers });
    call.output.print(`unregistered: ${name}`);
    return EXIT.ok;
  },
};
