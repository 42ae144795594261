import { join } from 'node:path';
import { parseDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { untilEnded } from '../until-ended.js';
import type { Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'down [--grace 10s]',
  about: 'Stops every server, then the daemon. What does not go within the grace is killed.',
  help: 'Examples:\n  toolherd down\n  toolherd down --grace 1s',
  options: { grace: { type: 'string' } },
  most: 0,
  async run(call) {
    const { flags, output } = call;
    const graceMs = typeof flags.grace === 'string' ? parseDuration(flags.grace) : undefined;
    const fleet = await call.fleet({ autostart: false, outlook: 'herd' });
    const { daemon } = await fleet.status([]);
    const { stopped, killed } = await fleet.shutdown(graceMs);
    const hasEnded = await untilEnded(call, daemon.pid);
    output.json({ stopped, killed });
    output.print(`stopped: ${stopped.join(', ') || 'no server was running'}`);
    if (killed.length > 0) output.print(`killed: ${killed.join(', ')}`);
    if (hasEnded) return EXIT.ok;
    output.error(`error: the daemon (pid ${daemon.pid}) has stopped its servers, but still has the socket`);
    output.error(
      `  fix: its log says why: ${join(call.paths.logFolder, 'daemon.log')}; end it with: kill ${daemon.pid}`,
    );
    return EXIT.failed;
  },
};
