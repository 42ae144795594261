import type { ReloadReport } from '../../fleet/fleet.js';
import { misconfiguredLine, withCallerVariables } from '../../fleet/texts/config-problems.js';
import type { CommandContext } from './command.js';

type Misconfigured = NonNullable<ReloadReport['misconfigured']>;

/** Warns about servers whose entry cannot be resolved. Answers with them, for the JSON. */
export function warnAboutMisconfigured(
  { output, environment }: CommandContext,
  servers: Misconfigured,
): Pick<ReloadReport, 'misconfigured'> {
  for (const { server, problems } of servers)
    output.note(`warning: ${misconfiguredLine(server, problems, environment)}`);
  if (servers.length === 0) return {};
  const seen = servers.map((one) => ({ ...one, problems: withCallerVariables(one.problems, environment) }));
  return { misconfigured: seen };
}
