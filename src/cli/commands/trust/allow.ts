import { loadConfig } from '../../../config/load.js';
import { recordOf, TrustRequiredError, TrustStore, wouldRun } from '../../../config/trust/trust.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { lenientOptions, namedAgentFile } from '../../core/load-options.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { describeWouldRun, wouldRunJson } from '../../ui/would-run.js';

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
  exits: { ok: 'allowed', notAllowed: 'you said no, or there is no terminal and no --yes' },
  async run(context) {
    const { args, options, output } = context;
    const file = namedAgentFile(context, args.file);
    // its variables need not be set yet: this is about what would run, not whether it can
    const { agent } = await loadConfig(lenientOptions(context, file, { trust: 'ignored' }));
    if (agent === undefined) throw new Error(`${file} was not loaded`);
    const list = agent.planned.filter(({ entry }) => entry.fields.enabled !== false).map(wouldRun);
    const canDecide = options.yes || (!output.isJson && context.isInteractive());
    if (!canDecide) throw new TrustRequiredError(file, 'never', list);
    output.note(describeWouldRun(file, list));
    const isAllowed = options.yes || (await context.confirm('Allow this?'));
    if (isAllowed) {
      await new TrustStore(context.paths.trustFile).allow(file, await recordOf(agent.text, agent.planned));
      await notifyConfigChange(context);
    }
    output.print(isAllowed ? `allowed: ${file}` : `not allowed: ${file}`);
    output.json({ ok: isAllowed, file, would_run: wouldRunJson(list) });
    return isAllowed ? EXIT.ok : EXIT.notAllowed;
  },
});
