import { TrustStore } from '../../../config/trust.js';
import type { Command } from '../../core/command.js';
import { namedAgentFile } from '../../core/config-paths.js';
import { EXIT } from '../../core/exit-codes.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';

export const verb: Command = {
  usage: 'revoke [FILE]',
  about: "Takes back an 'allow'. Nothing in the file runs any more.",
  help: 'Examples:\n  toolherd revoke\n  toolherd revoke ./agent.yaml',
  options: {},
  most: 1,
  async run(call) {
    const file = namedAgentFile(call);
    const wasAllowed = await new TrustStore(call.paths.trustFile).revoke(file);
    if (wasAllowed) await notifyConfigChange(call);
    call.output.print(wasAllowed ? `revoked: ${file}` : `was not allowed: ${file}`);
    call.output.json({ ok: true, file, was_allowed: wasAllowed });
    return EXIT.ok;
  },
};
