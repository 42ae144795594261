import { isObject } from '../shared/json.js';
import { compareVersions } from '../shared/text/compare-versions.js';
import { codeIn, PackageError } from './errors.js';
import type { NpmContext } from './installer.js';
import { type NpmDeps, runNpm } from './npm.js';
import type { NpxCommand } from './npx-command.js';

const LIMIT_MS = 60_000;

/** The version that npm would install now. Rejects with a PackageError, or when the signal aborts. */
export async function newestVersion(
  deps: NpmDeps,
  npm: NpmContext,
  { raw }: NpxCommand,
  signal: AbortSignal,
): Promise<string> {
  let output = '';
  const end = await runNpm(deps, {
    ...npm,
    args: ['view', raw, 'version', 'dist-tags.latest', '--json', '--no-update-notifier'],
    cwd: '/',
    limitMs: LIMIT_MS,
    signal,
    stderr: (chunk) => {
      output = `${output}${chunk.toString('utf8')}`.slice(-4096);
    },
  });
  signal.throwIfAborted();
  const newest = end.code === 0 ? newestIn(end.stdout) : undefined;
  if (newest !== undefined) return newest;
  throw new PackageError(`npm did not say which version ${raw} has${codeIn(output)}`, {
    fix: `see "npm view ${raw} version"`,
    output,
  });
}

/** As npm chooses: the tag `latest` where the request allows it, else the highest version. */
function newestIn(json: string): string | undefined {
  const answer = parse(json);
  const found = (Array.isArray(answer) ? answer : [answer]).filter(isObject);
  const versions = found.map(({ version }) => version).filter((one) => typeof one === 'string');
  const latest = found[0]?.['dist-tags.latest'];
  if (typeof latest === 'string' && versions.includes(latest)) return latest;
  return versions.sort(compareVersions).at(-1);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
