import { planAgentFile } from '../../../config/load.js';
import { configError, type Problem } from '../../../config/parse/problem.js';
import { AgentFileNotAllowedError, recordOf, TrustStore, wouldRunAll } from '../../../config/trust/trust.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { loadOptions, namedAgentFile } from '../../core/load-options.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { describeProfiles, describeWouldRun, wouldRunJson } from '../../ui/would-run.js';

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
    const agent = planAgentFile(loadOptions(context, file));
    if (agent === undefined) throw new Error(`${file} was not read`);
    const problems: Problem[] = [];
    // of an envFile only the names are used: they are shown, and the record has them
    const record = await recordOf(agent.text, agent.planned, (problem) => void problems.push(problem));
    if (problems.length > 0) throw configError(problems);
    const list = wouldRunAll(agent.planned, record.envNames);
    const store = new TrustStore(context.paths.trustFile);
    const trust = await store.check(file, agent.text, agent.planned);
    if (trust === 'allowed') {
      output.print(`already allowed: ${file}`);
      output.json({ ok: true, file, would_run: wouldRunJson(list) });
      return EXIT.ok;
    }
    const canDecide = options.yes || (!output.isJson && context.isInteractive());
    if (!canDecide) throw new AgentFileNotAllowedError(file, trust, list, ' --yes');
    const profiles = describeProfiles(agent.profiles);
    output.note([describeWouldRun(file, list), profiles].filter(Boolean).join('\n'));
    const isAllowed = options.yes || (await context.confirm('Allow this?'));
    if (isAllowed) {
      await store.allow(file, record);
      await notifyConfigChange(context);
    }
    output.print(isAllowed ? `allowed: ${file}` : `not allowed: ${file}`);
    output.json({ ok: isAllowed, file, would_run: wouldRunJson(list) });
    return isAllowed ? EXIT.ok : EXIT.notAllowed;
  },
});
