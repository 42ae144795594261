import { loadConfig } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import type { ConfigDescription } from '../fleet/ui.js';
import { type ConfigFile, globalFile } from '../install/config-target.js';
import type { InstallContext } from '../install/context.js';
import { entriesIn } from '../install/install-state.js';
import { loadOptions } from '../install/load-options.js';
import type { ConfigProblem } from '../shared/report/config-problem.js';
import type { PageHerd } from './page-methods.js';
import { listFiles } from './trust-files.js';

export async function describeConfig(herd: PageHerd, context: InstallContext): Promise<ConfigDescription> {
  const [{ problems, warnings }, plan, { daemon }, trust] = await Promise.all([
    findProblems(context),
    herd.fleet.reload(true).catch(() => null),
    herd.fleet.status([]),
    listFiles(herd, context),
  ]);
  const local = trust.map(({ file }): ConfigFile => ({ scope: 'local', file, key: 'tools' }));
  return {
    file: herd.file,
    problems: [...problems, ...(plan?.misconfigured ?? []).flatMap((one) => one.problems)],
    warnings,
    config_error: daemon.config_error,
    plan,
    entries: [globalFile(context), ...local].flatMap(placesIn),
    trust,
  };
}

async function findProblems(
  context: InstallContext,
): Promise<{ problems: readonly ConfigProblem[]; warnings: ConfigProblem[] }> {
  try {
    const { warnings } = await loadConfig({
      ...loadOptions(context, undefined),
      agentFile: undefined,
      configRequired: false,
      reader: 'daemon',
    });
    return { problems: [], warnings: [...warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, warnings: [] };
  }
}

function placesIn(target: ConfigFile): ConfigDescription['entries'] {
  return entriesIn(target).flatMap(({ name, line }) =>
    name === undefined ? [] : [{ server: name, file: target.file, line }],
  );
}
