import type { UpdatedPackage } from '../fleet.js';

/** What became of one package. */
export function updateSentence(updated: UpdatedPackage): string {
  const { server, package: name, version, installed, latest, result, restarted, problem } = updated;
  const from = version === null ? '' : `${version} → `;
  if (result === 'failed') return `${server}: ${name} was not updated: ${problem}`;
  if (result === 'current') return `${server}: ${name} ${version} is the newest`;
  if (result === 'would_update') return `${server}: ${name} ${from}${latest} would be installed`;
  return `${server}: ${name} ${from}${installed}, ${restarted ? 'restarted' : 'used at the next start'}`;
}
