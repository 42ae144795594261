import { stemmer } from 'stemmer';

/** Of a longer text only the beginning counts: descriptions come from servers, and may have any length. */
const MOST_CHARACTERS = 8_000;
/** A longer run of letters is data, not a word. */
const LONGEST_WORD = 40;
/** Stems are remembered: 5,000 tools have half a million words, and a few thousand different ones. */
const MOST_STEMS = 20_000;
const stems = new Map<string, string>();

const ASCII = /^[a-z]+$/;
/** British endings: tools are described in American English. */
const BRITISH = /(?<=\w{3}[iy])s(?=(?:e[ds]?|ing|ation|ations|er|ers)$)/;

/** Words of grammar and of courtesy: they say nothing about a tool. */
const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be because been before being but by can could did do does doing each
  either else etc every for from give given gives had has have having help here hers him his how i if in into is it its
  itself just kindly let lets like may me might mine must my myself need needs of on one only onto or our ours out over
  please shall she should since so some something such than that the their theirs them then there these they this those
  through thus to too until up upon us use used useful uses using very via want wants was we were what whatever when where
  whether which while who whom whose why will with within without would you your yours`.split(/\s+/),
);

/**
 * Words that people use in every other sentence. Few tools have them, which would make them rare and so important: they
 * count half where they stand, and their synonyms as those of any other word.
 */
const WEAK_WORDS = new Set(
  `able again always another anything appear ask away back bad become begin believe best better big bit bring case certain
  come consider continue different early enough ever everything example expect fact fall feel few first good great grow
  happen hear high hold important include keep kind know large last later lead leave live long look lose lot love low main
  make many meet moment more most much never new next nice now offer often old once other own part place provide put quick
  quickly reach real really remain right same say see seem several simple small sort stay still take talk tell thing think
  time together try turn understand walk way well whole win work year young`
    .split(/\s+/)
    .map((word) => stem(word)),
);

const RUNS = /[\p{L}\p{M}\p{N}]+/gu;
const POSSESSIVE = /['’]s\b/gu;
/** Where a word of an identifier begins: `readFile`, `HTTPServer`, `v2User`. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** Scripts that put no spaces between words. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー]+/u;

/** The stem of a word in lower case: `files` and `file` have the same. Words of other scripts are their own stems. */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const made = ASCII.test(word) ? stemmer(word.replace(BRITISH, 'z')) : word;
  if (stems.size >= MOST_STEMS) stems.clear();
  stems.set(word, made);
  return made;
}

/**
 * The words of an identifier in lower case: `readTextFile`, `read_text_file` and `read-text.file` have the same three.
 */
export function nameWords(name: string): string[] {
  return runsOf(name).flatMap(split);
}

/**
 * The words of a sentence in lower case. An identifier in it, such as `readFile`, is split. `GitHub` begins with a capital:
 * it is the name of a thing, which people also write as `github`, and stays one word.
 */
export function proseWords(text: string): string[] {
  return runsOf(text).flatMap((run) => (/^\p{Ll}{2}/u.test(run) ? split(run) : [run.toLowerCase()]));
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

export function isWeak(one: string): boolean {
  return WEAK_WORDS.has(one);
}

/** The stems of these words, without those of grammar. */
export function stemsOf(words: readonly string[]): string[] {
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem);
}

/** Each two neighbours as one word: `file_system` is found as `filesystem`, and `git_hub` as `github`. */
export function joinedStems(words: readonly string[]): string[] {
  return words
    .slice(1)
    .flatMap((word, at) =>
      STOP_WORDS.has(word) || STOP_WORDS.has(words[at]!) ? [] : stem(words[at]! + word),
    );
}

function runsOf(text: string): string[] {
  const runs: string[] = [];
  const plain = text.slice(0, MOST_CHARACTERS).normalize('NFKC').replaceAll(POSSESSIVE, '');
  for (const [run] of plain.matchAll(RUNS)) {
    if (SPACELESS.test(run)) runs.push(...pairsOf(run));
    else if (run.length <= LONGEST_WORD) runs.push(run);
  }
  return runs;
}

function split(run: string): string[] {
  const lower = run.toLowerCase();
  return lower === run ? [run] : run.split(HUMP).map((part) => part.toLowerCase());
}

/** Each two neighbouring characters of a script without spaces count as a word. */
function pairsOf(run: string): string[] {
  const parts: string[] = [];
  for (let rest = run; rest !== ''; ) {
    const { 0: spaceless = '', index = rest.length } = SPACELESS.exec(rest) ?? {};
    if (index > 0) parts.push(rest.slice(0, index));
    const characters = [...spaceless];
    if (characters.length === 1) parts.push(spaceless);
    for (let at = 1; at < characters.length; at++) parts.push(`${characters[at - 1]}${characters[at]}`);
    rest = rest.slice(index + spaceless.length);
  }
  return parts;
}
