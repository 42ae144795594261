import { basename } from 'node:path';

/** Options of docker itself whose value is the next word. */
const WITH_VALUE = new Set(
  '--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey'.split(' '),
);

/** The index of `run` in the arguments of `docker run` (or `docker container run`); -1 for any other command. */
export function dockerRunAt(command: string, args: readonly string[]): number {
  if (basename(command) !== 'docker') return -1;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === 'run') return at;
    if (WITH_VALUE.has(word)) at += 1;
    else if (!word.startsWith('-') && word !== 'container') return -1;
  }
  return -1;
}

/** The options of `docker run` without a value, unless it stands behind `=` (docker 29, `docker run --help`). */
const FLAGS = new Set(
  'detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged publish-all quiet read-only rm sig-proxy tty use-api-socket'.split(
    ' ',
  ),
);
/** The short forms of its options. */
const SHORT: Readonly<Record<string, string>> = {
  ...{ a: 'attach', c: 'cpu-shares', d: 'detach', e: 'env', h: 'hostname', i: 'interactive', l: 'label' },
  ...{ m: 'memory', p: 'publish', P: 'publish-all', q: 'quiet', t: 'tty', u: 'user', v: 'volume' },
  ...{ w: 'workdir' },
};

/** One option of `docker run`, by its long name. Of a group such as `-itv /:/h` each letter is one. */
export interface DockerOption {
  name: string;
  /** A flag without a value is `true`. */
  value: string;
  /** As it is written. */
  words: string;
}

/** The options of `docker run`, and the index of the image: as docker reads the words behind `run`. */
export function readDockerRun(words: readonly string[]): { options: DockerOption[]; imageAt: number } {
  const options: DockerOption[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (!word.startsWith('-') || word === '-') break;
    const parts = word.startsWith('--') ? [longOption(word)] : shortOptions(word);
    for (const { name, value } of parts) {
      if (value !== undefined) options.push({ name, value, words: word });
      else if (FLAGS.has(name)) options.push({ name, value: 'true', words: word });
      else {
        at += 1;
        const next = words[at] ?? '';
        options.push({ name, value: next, words: `${word} ${next}` });
      }
    }
  }
  return { options, imageAt: at };
}

interface Part {
  name: string;
  value: string | undefined;
}

function longOption(word: string): Part {
  const sign = word.indexOf('=');
  return sign === -1
    ? { name: word.slice(2), value: undefined }
    : { name: word.slice(2, sign), value: word.slice(sign + 1) };
}

/** The first letter with a value takes the rest of the word: `-itv/:/h`, `-v=/:/h`. */
function shortOptions(word: string): Part[] {
  const parts: Part[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? '';
    const name = SHORT[letter] ?? letter;
    const rest = word.slice(at + 1);
    const isWithValue = rest.startsWith('=') || !FLAGS.has(name);
    if (isWithValue) return [...parts, { name, value: rest === '' ? undefined : rest.replace(/^=/, '') }];
    parts.push({ name, value: undefined });
  }
  return parts;
}
