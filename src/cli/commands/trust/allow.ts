import { loadConfig } from '../../../config/load.js';
import { makePin, TrustRequiredError, TrustStore, wouldRun } from '../../../config/trust.js';
import type { Command } from '../../core/command.js';
import { loadOptions, namedAgentFile } from '../../core/config-paths.js';
import { EXIT } from '../../core/exit-codes.js';
import { notifyConfigChange } from '../../daemon/notify-config-change.js';
import { describeWouldRun, wouldRunJson } from '../../ui/trust-preview.js';

export const verb: Command = {
  usage: 'allow [FILE] [--yes]',
  about: `Lets a project's agent.yaml run what it says. Shows what would run and asks. The file is remembered as it is
now: when it, a manifest it names, or the names in its envFile change, it has to be allowed again.`,
  help: `Examples:
  toolherd allow                  the nearest agent.yaml
  toolherd allow ./agent.yaml --yes

Exit status: 0 allowed, 77 not allowed (no terminal and no --yes, or the answer was no).`,
  options: { yes: { type: 'boolean', short: 'y' } },
  most: 1,
  async run(call) {
    const { output } = call;
    const file = namedAgentFile(call);
    // Its variables need not be set yet: allowing is about what would run, not whether it can.
    const options = { ...loadOptions(call, file), trustFile: undefined, variables: 'lenient' as const };
    const { agent } = await loadConfig(options);
    if (agent === undefined) throw new Error(`${file} was not loaded`);
    const list = agent.planned.filter(({ entry }) => entry.fields.enabled !== false).map(wouldRun);
    const said = call.flags.yes === true || (!output.isJson && call.isInteractive());
    if (!said) throw new TrustRequiredError(file, 'never', list);
    output.note(describeWouldRun(file, list));
    const isAllowed = call.flags.yes === true || (await call.confirm('Allow this?'));
    if (isAllowed) {
      await new TrustStore(call.paths.trustFile).allow(file, await makePin(agent.text, agent.planned));
      await notifyConfigChange(call);
    }
    output.print(isAllowed ? `allowed: ${file}` : `not allowed: ${file}`);
    output.json({ ok: isAllowed, file, would_run: wouldRunJson(list) });
    return isAllowed ? EXIT.ok : EXIT.notAllowed;
  },
};
