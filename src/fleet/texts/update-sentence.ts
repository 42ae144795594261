import type { UpdatedPackage } from '../packages.js';

/** What `update` did with a package, in one line. */
export function updateSentence(updated: UpdatedPackage): string {
  return `${updated.server}: ${resultOf(updated)}`;
}

function resultOf(updated: UpdatedPackage): string {
  const { package: name, requested, version, installed, latest, result, restarted } = updated;
  const { refused, problem } = updated;
  const before = refused === null ? '' : ` (the last time it was not: ${refused})`;
  if (result === 'failed') return problem ?? `${name} was not updated`;
  if (result === 'not_installed')
    return `${name} is not installed yet; the first start installs the newest version`;
  if (result === 'current') return `${requested === name ? name : `${requested}:`} ${version} is the newest`;
  if (result === 'kept') return `${name} ${version} stays: ${refused ?? 'npm chose it again'}`;
  if (result === 'would_update') return `${name} ${version} → ${latest} would be installed${before}`;
  return `${name} ${version} → ${installed}, ${restarted ? 'restarted' : 'used at the next start'}`;
}
