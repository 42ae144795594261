import { looksSecret } from '../config/redactor.js';

const HIDDEN = '[redacted]';

/** `name: value`, `NAME=value`, `--flag=value`, also several in a line. */
const PAIR = /(["']?)([\w.-]+)\1(\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}&;{[][^,}&;]*)/g;
const SCHEME = /\b(Bearer|Basic|Token)\s+(?!\$\{)[^\s"',}]+/gi;
const PASSWORD = /(:\/\/[^/?#:@\s]*:)(?!\$\{)[^/?#@\s]+@/g;
const TOKEN = /\b(sk-|gh[opsu]_|github_pat_|glpat-|xox[abeprs]-)[\w.-]{8,}/g;
/** `--flag, value` in a list on one line. */
const WORDS = /(["']?--?([\w.-]+)["']?\s*,\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,\]][^,\]]*)/g;
/** An argument in a line of its own, whose value stands in the next. */
const FLAG = /^\s*- ["']?--?([\w.-]+)["']?\s*$/;

/** Lines of a user's file as they can be shown: what stands there in the clear under a telling name is taken out. */
export function hideSecrets(lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    const flag = FLAG.exec(lines[index - 1] ?? '')?.[1] ?? '';
    if (tells(flag, line)) return line.replace(/^(\s*- )(?!["']?-).*$/, `$1${HIDDEN}`);
    return line
      .replaceAll(SCHEME, `$1 ${HIDDEN}`)
      .replaceAll(PASSWORD, `$1${HIDDEN}@`)
      .replaceAll(TOKEN, HIDDEN)
      .replaceAll(WORDS, (whole, head: string, name: string, value: string) =>
        tells(name, value) && !/^["']?-/.test(value) ? `${head}${HIDDEN}` : whole,
      )
      .replaceAll(PAIR, (whole, quote: string, name: string, sign: string, value: string) =>
        tells(name, value) ? `${quote}${name}${quote}${sign}${HIDDEN}` : whole,
      );
  });
}

/** A variable in the place of a secret is none. */
function tells(name: string, value: string): boolean {
  return looksSecret(name.replaceAll(/[.-]/g, '_')) && !value.includes('${') && !value.includes(HIDDEN);
}
