import { basename } from 'node:path';

/** What an `npx` command asks for, where toolherd can do the same without npx. */
export interface NpxCommand {
  /** Of the package: `@scope/name`. */
  name: string;
  /** As written: `name`, `name@1.2.3`. npm gets it unchanged. */
  raw: string;
  /** Behind the `@`; empty for a bare name. */
  version: string;
  /** `exact` never changes. A bare name is a `range` to npm. */
  kind: 'exact' | 'range' | 'tag';
  /** The command behind `-p PACKAGE`; undefined: the package's own. */
  bin: string | undefined;
  args: readonly string[];
}

/** Why npx is started as written. */
export interface Plain {
  plain: string;
}

/** Flags that change nothing for a program without a terminal. */
const IGNORED = new Set(['-y', '--yes', '-q', '--quiet', '-s', '--silent']);
const PACKAGE = /^(?:-p|--package)(?:=(.*))?$/s;
/** As npm-package-arg reads names; the parts are the name and what follows the `@`. */
const SPEC = /^((?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9~][a-z0-9-._~]*)(?:@([^@/:]*))?$/i;
const TARBALL = /\.(?:tgz|tar\.gz|tar)$/i;
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;
/** npm takes every word that is no range for a tag. */
const TAG = /^(?![vx]?\d|x$)[a-z][\w.-]*$/i;

export function isNpx(command: string): boolean {
  return basename(command) === 'npx';
}

/** Reads the arguments of npx as bin/npx-cli.js of npm does. */
export function parseNpx(args: readonly string[]): NpxCommand | Plain {
  const packages: string[] = [];
  let index = 0;
  for (; index < args.length; index += 1) {
    const word = args[index]!;
    if (word === '--') {
      index += 1;
      break;
    }
    if (!word.startsWith('-')) break;
    const value = PACKAGE.exec(word);
    if (value !== null) {
      if (value[1] === undefined) index += 1;
      packages.push(value[1] ?? args[index] ?? '');
    } else if (!IGNORED.has(word)) return { plain: `${flagOf(word)} is not resolved` };
  }
  const [first, ...rest] = args.slice(index);
  if (packages.length > 1) return { plain: 'several packages are not resolved' };
  if (first === undefined || first === '') return { plain: 'no command is named' };
  const [spec] = packages;
  return spec === undefined ? parseSpec(first, undefined, rest) : parseSpec(spec, first, rest);
}

/** Without its value, which may be a secret. */
function flagOf(word: string): string {
  return word.replace(/=.*$/s, '');
}

function parseSpec(raw: string, bin: string | undefined, args: readonly string[]): NpxCommand | Plain {
  const [, name, version = ''] = SPEC.exec(raw) ?? [];
  if (name === undefined || TARBALL.test(raw))
    return { plain: 'only packages of a registry are resolved, no paths, urls and repositories' };
  if (bin?.includes('/') === true) return { plain: 'a path as the command is not resolved' };
  const kind = EXACT.test(version) ? 'exact' : TAG.test(version) ? 'tag' : 'range';
  return { name, raw, version, kind, bin, args };
}
