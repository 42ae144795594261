import { isObject, type JsonObject } from '../../shared/json.js';

/**
 * Why a JSON Schema cannot be compiled, in a few words; undefined when it can. By hand and not by a validator: the
 * daemon looks at every schema of every server and validates with none. A thousand take 40 ms here and 2 s with Ajv
 * (docs/PERFORMANCE.md). A test compares the results with Ajv's.
 *
 * It knows the keywords of all drafts from 06 on; unknown keywords may have any value.
 */
export function schemaProblem(schema: unknown): string | undefined {
  return new Walk(schema).run();
}

/** A tool's schema has to be one for an object: its arguments have names. */
export function toolSchemaProblem(schema: unknown): string | undefined {
  if (schema === undefined) return 'is missing';
  if (!isObject(schema)) return 'is no object';
  if (schema.type !== 'object') return `has the type ${shown(schema.type)}, not "object"`;
  return schemaProblem(schema);
}

/** Checks the value of one keyword, without its nested schemas. Returns the problem as text. */
type Rule = (value: unknown, later: (schema: unknown, step?: string) => void) => string | undefined;

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const text: Rule = (value) => (typeof value === 'string' ? undefined : 'is no text');
const flag: Rule = (value) => (typeof value === 'boolean' ? undefined : 'is neither true nor false');
const list: Rule = (value) => (Array.isArray(value) ? undefined : 'is no list');
const number: Rule = (value) => (typeof value === 'number' ? undefined : 'is no number');
const count: Rule = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : 'is no whole number from 0 on';

const type: Rule = (value) => {
  const types = Array.isArray(value) ? value : [value];
  if (types.length === 0 || new Set(types).size < types.length) return 'is no list of different types';
  const wrong = types.findIndex((one) => !TYPES.includes(one as string));
  return wrong === -1 ? undefined : `is ${shown(types[wrong])}, which is no type`;
};

const names: Rule = (value) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return 'is no list of names';
  return new Set(value).size === value.length ? undefined : 'has a name twice';
};

const pattern: Rule = (value) => {
  if (typeof value !== 'string') return 'is no text';
  try {
    new RegExp(value, 'u');
    return undefined;
  } catch {
    return `is ${shown(value)}, which is no regular expression`;
  }
};

const schema: Rule = (value, later) => {
  later(value);
  return undefined;
};

const schemas: Rule = (value, later) => {
  if (!Array.isArray(value) || value.length === 0) return 'is no list of schemas';
  for (const [at, one] of value.entries()) later(one, String(at));
  return undefined;
};

const named =
  (each: Rule, key?: Rule): Rule =>
  (value, later) => {
    if (!isObject(value)) return 'is no object';
    for (const [name, one] of Object.entries(value)) {
      const complaint =
        key?.(name, later) ?? each(one, (inner, step) => later(inner, step ? `${name}.${step}` : name));
      if (complaint !== undefined) return `has ${shown(name)}, which ${complaint}`;
    }
    return undefined;
  };

const schemaOrSchemas: Rule = (value, later) => (Array.isArray(value) ? schemas : schema)(value, later);
const schemaOrNames: Rule = (value, later) => (Array.isArray(value) ? names : schema)(value, later);
const values: Rule = (value) =>
  Array.isArray(value) && value.length > 0 ? undefined : 'is no list of values';
const overZero: Rule = (value) =>
  typeof value === 'number' && value > 0 ? undefined : 'is no number over 0';

const KEYWORDS: readonly (readonly [Rule, string])[] = [
  [text, '$schema $id $ref $anchor $comment title description format contentEncoding contentMediaType'],
  [flag, 'uniqueItems readOnly writeOnly deprecated'],
  [number, 'minimum maximum exclusiveMinimum exclusiveMaximum'],
  [count, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'],
  [overZero, 'multipleOf'],
  [schema, 'not if then else contains propertyNames contentSchema additionalItems additionalProperties'],
  [schema, 'unevaluatedItems unevaluatedProperties'],
  [schemas, 'allOf anyOf oneOf prefixItems'],
  [schemaOrSchemas, 'items'],
  [named(schema), 'properties $defs definitions dependentSchemas'],
  [named(schema, pattern), 'patternProperties'],
  [named(names), 'dependentRequired'],
  [named(schemaOrNames), 'dependencies'],
  [type, 'type'],
  [names, 'required'],
  [pattern, 'pattern'],
  [list, 'examples'],
  [values, 'enum'],
];

const RULES: ReadonlyMap<string, Rule> = new Map(
  KEYWORDS.flatMap(([rule, keys]) => keys.split(' ').map((key) => [key, rule] as const)),
);

/** Schema by schema, with a work list instead of recursion, because a server chooses the depth. */
class Walk {
  readonly #root: unknown;
  readonly #ahead: { schema: unknown; path: string }[];
  readonly #references: { to: string; path: string }[] = [];
  readonly #anchors = new Set<string>();
  /** A nested schema has its own id: only a real validator knows what references mean then. */
  #hasInnerIds = false;

  constructor(root: unknown) {
    this.#root = root;
    this.#ahead = [{ schema: root, path: '' }];
  }

  run(): string | undefined {
    for (let next = this.#ahead.pop(); next !== undefined; next = this.#ahead.pop()) {
      const complaint = this.#look(next.schema, next.path);
      if (complaint !== undefined) return complaint;
    }
    const lost = this.#references.find(({ to }) => !this.#leadsSomewhere(to));
    return lost && `${lost.path} leads nowhere: ${shown(lost.to)}`;
  }

  #look(value: unknown, path: string): string | undefined {
    if (typeof value === 'boolean') return undefined;
    if (!isObject(value)) return `${path || 'it'} is no schema`;
    for (const [key, inner] of Object.entries(value)) {
      const place = path === '' ? key : `${path}.${key}`;
      const later = (schema: unknown, step?: string) =>
        void this.#ahead.push({ schema, path: step === undefined ? place : `${place}.${step}` });
      const complaint = RULES.get(key)?.(inner, later);
      if (complaint !== undefined) return `${shortened(place)} ${complaint}`;
    }
    this.#note(value, path);
    return undefined;
  }

  #note({ $ref, $anchor, $dynamicAnchor, $id }: JsonObject, path: string): void {
    if (typeof $ref === 'string') this.#references.push({ to: $ref, path: shortened(`${path}.$ref`) });
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === 'string') this.#anchors.add(`#${anchor}`);
    }
    if (path !== '' && $id !== undefined) this.#hasInnerIds = true;
  }

  /** Only within the schema itself: nothing is fetched. */
  #leadsSomewhere(reference: string): boolean {
    if (this.#hasInnerIds || this.#anchors.has(reference)) return true;
    if (reference.includes('#') && !reference.startsWith('#')) {
      return (this.#root as JsonObject).$id === reference.slice(0, reference.indexOf('#'));
    }
    if (!reference.startsWith('#')) return (this.#root as JsonObject).$id === reference;
    let at: unknown = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = unescaped(step);
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
      at = (at as JsonObject)[name];
    }
    return reference === '#' || reference.startsWith('#/');
  }
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

const LONGEST = 80;

function shortened(words: string): string {
  const path = words.replace(/^\./, '');
  return path.length > LONGEST ? `…${path.slice(-LONGEST)}` : path;
}

function shown(value: unknown): string {
  const words = typeof value === 'object' && value !== null ? 'an object' : (JSON.stringify(value) ?? 'none');
  return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
}
