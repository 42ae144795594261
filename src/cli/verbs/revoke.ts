import { TrustStore } from '../../config/trust.js';
import { EXIT } from '../exit-codes.js';
import { namedAgentFile } from '../files.js';
import type { Call, Verb } from '../verb.js';

export const verb: Verb = {
  usage: 'revoke [FILE]',
  about: "Takes back an 'allow'. Nothing in the file runs any more.",
  help: 'Examples:\n  toolherd revoke\n  toolherd revoke ./agent.yaml',
  options: {},
  most: 1,
  async run(call) {
    const file = namedAgentFile(call);
    const wasAllowed = await new TrustStore(call.paths.trustFile).revoke(file);
    if (wasAllowed) await tellDaemon(call);
    call.output.print(wasAllowed ? `revoked: ${file}` : `was not allowed: ${file}`);
    call.output.json({ ok: true, file, was_allowed: wasAllowed });
    return EXIT.ok;
  },
};

/** What the file had running is to end now; where no daemon runs, nothing does. */
async function tellDaemon(call: Call): Promise<void> {
  try {
    const fleet = await call.fleet({ autostart: false, outlook: 'herd' });
    await fleet.reload();
  } catch (error) {
    const { type, message } = error as { type?: string; message: string };
    if (type === 'DaemonNotRunningError') return;
    call.output.note(`warning: what it had running may go on: ${message}; 'toolherd down' ends everything`);
  }
}
