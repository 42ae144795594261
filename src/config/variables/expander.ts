import type { Environment } from '../../shared/environment.js';
import type { Redactor } from '../../shared/secrets/redactor.js';
import { looksSecret } from '../../shared/secrets/secret-name.js';
import type { ParsedEntry, Report } from '../fields/parsed-entry.js';
import { type Data, isMap } from '../parse/document.js';
import type { Path } from '../parse/problem.js';
import { expand, type VariableSource, type VariableUse } from './variables.js';

/** What the loader needs from outside. No module in src/config reads process.env. */
export interface LoadEnvironment {
  environment: Environment;
  userHome: string;
  redactor: Redactor;
  /** `strict` reports unset variables; `lenient` ignores them (an edit is checked without its variables). */
  variables: 'strict' | 'lenient';
  /** See Reader. */
  reader: Reader;
  /** Called for every variable that `file` uses, for `validate`. */
  onUse?(use: VariableUse, file: string): void;
}

/**
 * Which process reads the files. `command`: a command that ends and can be run again with another environment.
 * `daemon`: a process that keeps the environment it was started with.
 */
export type Reader = 'command' | 'daemon';

/** Whose texts are expanded: an entry, or the settings of a file. */
export interface ExpandedPart {
  document: ParsedEntry['document'];
  context: Pick<ParsedEntry['context'], 'folder'>;
}

/** Expands the variables of one entry and reports unset ones. */
export class Expander {
  readonly #entry: ExpandedPart;
  readonly #environment: LoadEnvironment;
  readonly #sources: readonly VariableSource[];
  readonly #report: Report;
  #known: string[] | undefined;
  /** True after an unset variable: the expanded text is then not the real value. */
  isIncomplete = false;

  constructor(
    entry: ExpandedPart,
    loadEnvironment: LoadEnvironment,
    sources: readonly VariableSource[],
    report: Report,
  ) {
    this.#entry = entry;
    this.#environment = loadEnvironment;
    this.#sources = sources;
    this.#report = report;
  }

  text(source: string, path: Path): string {
    const { folder } = this.#entry.context;
    const scope = {
      sources: this.#sources,
      workspaceFolder: folder,
      userHome: this.#environment.userHome,
    };
    const { text, uses } = expand(source, scope);
    // A name that occurs many times in one text is one problem.
    for (const use of new Map(uses.map((one) => [`${one.name}:${one.from}`, one])).values()) {
      this.#environment.onUse?.(use, this.#entry.document.file);
      if (use.value === undefined) this.#unset(use.name, path);
      else if (use.from !== 'default') this.#environment.redactor.add(use.name, use.value);
    }
    if (text.includes('\0')) {
      this.#report(
        this.#entry.document.problem('ConfigError', path, 'A value holds a NUL character', 'remove it'),
      );
    }
    return text;
  }

  data(value: Data, path: Path): Data {
    if (typeof value === 'string') return this.text(value, path);
    if (Array.isArray(value)) return value.map((item, index) => this.data(item, [...path, index]));
    if (!isMap(value)) return value;
    return this.map(value, path);
  }

  map<T extends Data>(value: Record<string, T>, path: Path): Record<string, T> {
    const result: Record<string, T> = Object.create(null);
    for (const [key, item] of Object.entries(value)) {
      const expanded = this.data(item, [...path, key]) as T;
      if (typeof expanded === 'string' && looksSecret(key)) this.#environment.redactor.add(key, expanded);
      result[key] = expanded;
    }
    return result;
  }

  #unset(name: string, path: Path): void {
    this.isIncomplete = true;
    if (this.#environment.variables === 'lenient') return;
    this.#known ??= [
      ...this.#sources.flatMap(({ values }) => Object.keys(values)),
      'workspaceFolder',
      'userHome',
    ];
    const near = this.#entry.document.didYouMean(name, this.#known);
    const how = howToSet(name, this.#environment.reader);
    const fix = near === '' ? `${how}, or write \${${name}:-default}` : `${how}; ${near}`;
    const problem = this.#entry.document.problem('ConfigError', path, notFound(name), fix);
    this.#report({ ...problem, variable: name });
  }
}

export function notFound(name: string): string {
  return `Environment variable '${name}' not found`;
}

export function howToSet(name: string, reader: Reader): string {
  if (reader === 'command') return `set ${name} in the environment`;
  return `set ${name} and run "toolherd up --replace", or put it into an envFile`;
}
