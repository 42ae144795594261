import { LEAST_SECRET_LENGTH, looksLikePassword, looksSecret } from './secret-name.js';

/** Replaces a secret that was recognised by its form; declared secrets become `[redacted:NAME]`. */
export const HIDDEN = '[hidden]';

/** How the tokens of well-known services begin. Names like `npm_config_x` and `hf_hub_x` begin so too. */
const PREFIXED =
  '(?:(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\\.|pypi-|ntn_|eyJ[\\w-]+\\.)|(?:[sr]k_|pk_|hf_|npm_)(?=[\\w.-]*[\\dA-Z]))[\\w.-]{8,}';
const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const TOKEN = new RegExp(`^${PREFIXED}$`);
const TOKENS = new RegExp(`(?<![\\w.-])(?:${PREFIXED}|${UUID}(?![\\w-]))`, 'g');
/** A long word; `isRandom` decides. A part of a path or a file name is not a candidate. */
const LONG_WORDS = /(?<![\w+/.@-])[\w+/-]{32,}={0,2}(?![\w+/@-]|\.\w)/g;

const SCHEME = /\b(Bearer|Basic|Token)(\s{1,20})([^\s"',}]{1,4000})/gi;
const SCHEME_BEFORE = /^(?:Bearer|Basic|Token)\s+/i;
/** Words that follow `Bearer` in prose. */
const ABOUT_BEARER =
  /^(tokens?|auth\w*|scheme|header|realm|credentials?|error|prefix|format|is|was|or|and)\b/i;

/** Every part is bounded: a server may write a text on which an unbounded pattern takes for ever. */
const URLS =
  /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,40}:\/\/)((?:[^\s"/?#@:]{0,500}:[^\s"]{0,2000}@)?[^\s"'`<>]{0,4000})/gi;
/** A password may hold `/` and `@`. */
const USERINFO = /^(?:[^/?#@:]*:.*|[^/?#@]*)@/s;

/** `name=`, `name:`, `"name": `, also `\"name\":` of JSON in JSON. Not the host of a url. */
const NAMES = /(?<![\w.-]|:\/\/)([\w.-]{1,200})(\\*["'])?(\s{0,20}[=:]\s{0,20})(?!\/\/|-\})/g;
/** `--flag value`, `"--flag", "value"`. */
const FLAGS = /(?<![\w.-])(-{1,2}[a-z][\w.-]{0,200})(["']?\s{0,20},\s{0,20}|\s{1,20})/gi;
/** Words that are not the value of a flag. */
const ORDINARY_FLAG = /^(--[a-z][\w-]*(=|$|["',\s])|-[a-z]($|["',\s]))/i;
/** A variable instead of a secret is not secret; its default may be. */
const VARIABLE = '\\$\\{(?:(?!:-)[^}])*(?::-)?\\}';
const REFERENCE = new RegExp(`^(?:(?:Bearer|Basic|Token)\\s+)?${VARIABLE}$`, 'i');
const USER_REFERENCE = new RegExp(`^([^:]*:)?${VARIABLE}$`);

/** Words of prose, and positions in files (`auth.js:12:5`), that follow a secret's name and are not its value. */
const PLAIN_WORD =
  /^([A-Za-z]?[a-z']*|<[\w -]*>|[A-Z_]*(TOKEN|KEY|SECRET|PASSWORD|VALUE|STRING)|\d{1,5}(:\d+)*)[.,;:!?)\]]*$/;
const STATE_WORD =
  /^(not|is|are|was|has|must|should|please|missing|required|invalid|expired|unset|undefined|null|none|empty|failed|failure|set|the|no|cannot|could|unable|unauthorized|denied|true|false|\d{1,5}(:\d+)*)[.,;:!?)]*$/i;
const ERROR_NAME = /(error|exception|warning|failed|failure)$/i;

/** `default`, `Browser`. The app passwords of Google are 16 small letters. */
const SINGLE_WORD = /^[A-Za-z][a-z]{0,14}$/;
/** `server.mjs`, `/etc/keys/id.pem`. By its ending: some tokens have dots and slashes too. */
const FILE_NAME =
  /^[\w.@~/-]+\.([cm]?[jt]s|[jt]sx|py|rb|sh|exe|jar|wasm|json|jsonc|ya?ml|toml|ini|conf|cfg|env|txt|md|log|db|sqlite|pem|key|crt|cer|p12|pfx|pub)$/;

/** How far a value without quotes reaches after `name: `, and which values are harmless. */
interface Style {
  rest: RegExp;
  isHarmless(value: string, before: string, name: string): boolean;
}

const ARGUMENT: Style = { rest: /[^\n"'`]+/y, isHarmless: () => false };
const FILE: Style = { rest: /[^\n]+/y, isHarmless: () => false };
const FLOW: Style = { rest: /(?:\$\{[^}]*\}|[^\n,}\]])+/y, isHarmless: () => false };
const PROSE: Style = {
  rest: /(?:(?:Bearer|Basic|Token)\s+)?\S+/iy,
  isHarmless: (value, before, name) =>
    ERROR_NAME.test(name) || (/[A-Za-z)]\s$/.test(before) ? PLAIN_WORD : STATE_WORD).test(value),
};
/** A value after `=`, or directly after `:`. */
const WORD = /(?:\\.|[^\s"'\\])+/y;

/** Whether a whole text is a token of a well-known service. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A url without user info, query and fragment, each of which may hold a key. Any other text stays as it is. */
export function stripUrl(text: string): string {
  if (!/^[\w+.-]+:\/\//.test(text)) return text;
  return text.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//');
}

/**
 * The words of a command without their secrets, and those secrets, which the program may repeat elsewhere. Plain words
 * and file names are hidden in the command only, unless they are passwords: `default` after `--session` occurs in too
 * many harmless lines.
 */
export function hideInArguments(words: readonly string[]): { words: string[]; values: string[] } {
  const values: string[] = [];
  const hide: Hide = (value, isPassword = false) => {
    values.push(...formsOf(value).filter((form) => isPassword || !isOrdinary(form)));
    return HIDDEN;
  };
  const hidden = words.map((word, index) => {
    const flag = /^-{1,2}[\w.-]+$/.exec(words[index - 1] ?? '')?.[0];
    if (flag !== undefined && looksSecret(flag) && !ORDINARY_FLAG.test(word))
      return hide(word, looksLikePassword(flag));
    // a word that begins with a name is one pair: its value may contain blanks
    const [, head = '', name = '', value = ''] = /^(([\w.-]+)(?:=|:\s*(?!\/\/)))(.+)$/s.exec(word) ?? [];
    if (looksSecret(name) && !REFERENCE.test(value)) return head + hide(value, looksLikePassword(name));
    return hideIn(word, ARGUMENT, hide);
  });
  return { words: hidden, values: [...new Set(values)].sort((a, b) => b.length - a.length) };
}

/** Output of a program for people, without secrets. */
export function hideInProse(text: string): string {
  return hideIn(text, PROSE, () => HIDDEN);
}

/** Lines of a user's YAML file. The value of a flag may be in the line below the flag. */
export function hideInFile(lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    const flag = /^\s*- ["']?(-{1,2}[\w.-]+)["']?\s*$/.exec(lines[index - 1] ?? '')?.[1] ?? '';
    const [, item = '', value = ''] = /^(\s*- )["']?(.*?)["']?\s*$/.exec(line) ?? [];
    const isValue = item !== '' && looksSecret(flag) && !ORDINARY_FLAG.test(value) && !REFERENCE.test(value);
    if (isValue) return item + HIDDEN;
    return hideIn(line, /(?<!\$)\{|\[/.test(line) ? FLOW : FILE, () => HIDDEN);
  });
}

/** Returns the replacement of a secret. `isPassword`: it may be a plain word. */
type Hide = (value: string, isPassword?: boolean) => string;

function hideIn(text: string, style: Style, hide: Hide): string {
  const plain = text
    .replaceAll(URLS, (_, scheme: string, rest: string) => scheme + hideInUrl(rest, hide))
    .replaceAll(SCHEME, (whole, scheme: string, blank: string, value: string) =>
      isCredential(scheme, value) ? scheme + blank + hide(value) : whole,
    );
  const named = hideAfter(hideAfter(plain, NAMES, style, hide), FLAGS, style, hide);
  return named
    .replaceAll(TOKENS, (token) => hide(token))
    .replaceAll(LONG_WORDS, (word) => (isRandom(word) ? hide(word) : word));
}

function hideInUrl(rest: string, hide: Hide): string {
  const userinfo = USERINFO.exec(rest)?.[0] ?? '';
  const user = userinfo.slice(0, -1);
  const isKept = user === '' || USER_REFERENCE.test(user);
  if (!isKept && user.includes(':')) hide(user.slice(user.indexOf(':') + 1), true);
  const shownUser = isKept ? userinfo : `${hide(user)}@`;
  const [, path = '', query = '', fragment = ''] =
    /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest.slice(userinfo.length)) ?? [];
  const segments = path.split('/').map((part) => (isRandom(part) ? hide(part) : part));
  // under any name: every service uses its query differently
  const parameters = query.replaceAll(/([?&])([^=&]*=)?([^&]+)/g, (whole, sign, name = '', value: string) =>
    REFERENCE.test(value) ? whole : sign + name + hide(value),
  );
  return shownUser + segments.join('/') + parameters + fragment;
}

/** Hides the values after names of secrets. After another name the scan continues with its value, which may hold names. */
function hideAfter(text: string, names: RegExp, style: Style, hide: Hide): string {
  let result = '';
  let done = 0;
  for (const match of text.matchAll(names)) {
    const [whole, name = ''] = match;
    if (match.index < done || !looksSecret(name)) continue;
    const start = match.index + whole.length;
    const found = valueAt(text, start, /[:\s,]\s*$/.test(whole) && /\s$/.test(whole) ? style.rest : WORD);
    if (found === undefined) continue;
    const value = text.slice(found.from, found.to);
    const isFlag = names === FLAGS;
    if (REFERENCE.test(value) || value.startsWith(HIDDEN) || (isFlag && ORDINARY_FLAG.test(value))) continue;
    if (style.isHarmless(value, isFlag ? 'a ' : text.slice(0, match.index), name)) continue;
    result += text.slice(done, found.from) + hide(value, looksLikePassword(name));
    done = found.to;
  }
  return result + text.slice(done);
}

/** The range of the value that begins here, without quotes. None where a map begins: its names are checked one by one. */
function valueAt(text: string, start: number, bare: RegExp): { from: number; to: number } | undefined {
  const quote = stickyAt(/\\*["'`]/y, text, start);
  if (quote !== '') {
    const from = start + quote.length;
    const end =
      quote.length > 1
        ? text.indexOf(quote, from)
        : from + stickyAt(new RegExp(`(?:[^${quote}\\\\]|\\\\.)*`, 'ys'), text, from).length;
    return { from, to: end === -1 ? text.length : end };
  }
  if (text.startsWith(HIDDEN, start) || text[start] === '{') return undefined;
  const length = stickyAt(text[start] === '[' ? /\[[^\]]*\]?/y : bare, text, start).length;
  return length === 0 ? undefined : { from: start, to: start + length };
}

function stickyAt(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0] ?? '';
}

/** `Basic usage` and `a Bearer token` are not credentials. */
function isCredential(scheme: string, value: string): boolean {
  if (value.startsWith('${') || value.startsWith(HIDDEN)) return false;
  return /^bearer$/i.test(scheme) ? !ABOUT_BEARER.test(value) : /\d|[a-z][A-Z]/.test(value);
}

/** Too random for a name: hexadecimal, base64, the keys of AWS (which hold `/`). */
function isRandom(word: string): boolean {
  const count = (of: RegExp) => word.match(of)?.length ?? 0;
  const [lower, upper, digits] = [count(/[a-z]/g), count(/[A-Z]/g), count(/\d/g)];
  if (word.length < 32 || digits === 0) return false;
  if (/^[\w+]+={0,2}$/.test(word)) return lower + upper > 0;
  if (/^[\w-]{40,}={0,2}$/.test(word)) return lower >= 5 && upper >= 5 && digits >= 2;
  return /^([A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{40,}={1,2})$/.test(word) && lower >= 5 && upper >= 5;
}

function isOrdinary(value: string): boolean {
  return SINGLE_WORD.test(value) || (FILE_NAME.test(value) && !isToken(value));
}

/** The forms in which a program may repeat it. */
function formsOf(value: string): string[] {
  const bare = value.replace(SCHEME_BEFORE, '');
  return [value, bare, JSON.stringify(bare).slice(1, -1), decoded(bare)].filter(
    (form) => form.length >= LEAST_SECRET_LENGTH && !form.includes(HIDDEN),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
