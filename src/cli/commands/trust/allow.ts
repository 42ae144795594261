import { AgentFileNotAllowedError, TrustStore } from '../../../config/trust/trust.js';
import { namedAgentFile } from '../../../install/load-options.js';
import { reviewAgentFile } from '../../../install/review-agent-file.js';
import { describeProfiles, describeWouldRun, wouldRunJson } from '../../../install/would-run.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';

export const command = defineCommand({
  name: 'allow',
  summary: "Lets a project's agent.yaml run what it says.",
  details: `It shows what would run, and asks.
toolherd remembers the file as it is now.
When the file, a manifest it names, or the names in its envFile change, you have
to allow it again.`,
  args: { file: { optional: true } },
  options: { yes: { type: 'boolean', short: 'y', about: 'do not ask' } },
  examples: [['toolherd allow', 'the nearest agent.yaml'], 'toolherd allow ./agent.yaml --yes'],
  exits: { ok: 'allowed, now or before', notAllowed: 'you said no, or there is no terminal and no --yes' },
  async run(context) {
    const { args, options, output } = context;
    const file = namedAgentFile(context, args.file);
    const { trust, wouldRun: list, profiles, record } = await reviewAgentFile(context, file);
    if (trust === 'allowed') {
      output.print(`already allowed: ${file}`);
      output.json({ ok: true, file, would_run: wouldRunJson(list) });
      return EXIT.ok;
    }
    const canDecide = options.yes || (!output.isJson && context.isInteractive());
    if (!canDecide) throw new AgentFileNotAllowedError(file, trust, list, ' --yes');
    output.note([describeWouldRun(file, list), describeProfiles(profiles)].filter(Boolean).join('\n'));
    const isAllowed = options.yes || (await context.confirm('Allow this?'));
    if (isAllowed) {
      await new TrustStore(context.paths.trustFile).allow(file, record);
      await notifyConfigChange(context);
    }
    output.print(isAllowed ? `allowed: ${file}` : `not allowed: ${file}`);
    output.json({ ok: isAllowed, file, would_run: wouldRunJson(list) });
    return isAllowed ? EXIT.ok : EXIT.notAllowed;
  },
});
