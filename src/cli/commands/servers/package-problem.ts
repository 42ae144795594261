import type { PackageStatus } from '../../../fleet/fleet.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { quoted, singleLine } from '../../ui/text.js';

/** What went wrong with the package of a server, and what to do; without lines where nothing did. */
export function problemLines({ server, problem, why, fix }: PackageStatus): string[] {
  if (problem === null) return [];
  return [
    singleLine(`${server}: ${problem}`),
    ...(why === null ? [] : [`  why: ${quoted(why)}`]),
    ...(fix === null ? [] : [singleLine(`  fix: ${fix}`)]),
  ];
}

/** Why npm did not install the latest version, where it was tried. */
export function refusalLines({ server, package: name, latest, refused }: PackageStatus): string[] {
  return refused === null ? [] : [singleLine(`${server}: ${name} ${latest} was not installed: ${refused}`)];
}

/** In place of lines, for servers of which there are none. `named`: as given on the command line; empty for all. */
export function unlistedLines(named: readonly string[], packages: readonly PackageStatus[]): string[] {
  if (named.length === 0) return packages.length === 0 ? ['no server has a package that could be newer'] : [];
  return named
    .filter((name) => !packages.some(({ server }) => server === name))
    .map((name) =>
      singleLine(`${name}: no package that could be newer; see "toolherd why ${shellWord(name)}"`),
    );
}
