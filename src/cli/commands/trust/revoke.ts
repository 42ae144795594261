import { TrustStore } from '../../../config/trust/trust.js';
import { namedAgentFile } from '../../../install/load-options.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';

export const command = defineCommand({
  name: 'revoke',
  summary: "Undoes 'allow': nothing in the file runs any more.",
  args: { file: { optional: true } },
  examples: ['toolherd revoke', 'toolherd revoke ./agent.yaml'],
  async run(context) {
    const file = namedAgentFile(context, context.args.file);
    const wasAllowed = await new TrustStore(context.paths.trustFile).revoke(file);
    if (wasAllowed) await notifyConfigChange(context);
    context.output.print(wasAllowed ? `revoked: ${file}` : `was not allowed: ${file}`);
    context.output.json({ ok: true, file, was_allowed: wasAllowed });
    return EXIT.ok;
  },
});
