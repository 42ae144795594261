import type {
  ChoiceField,
  Field,
  GroupField,
  JsonField,
  ListField,
  NumberField,
  TextField,
  VariantsField,
} from './fields.js';

/** What a person has put into one field, kept as it was typed. */
export interface Draft {
  /** Of texts, numbers and JSON. */
  text: string;
  /** The index of the chosen option or variant; -1: none. */
  chosen: number;
  /** `null` was chosen. */
  isNull: boolean;
  items: readonly Draft[];
  fields: Readonly<Record<string, Draft>>;
  /** Of the chosen variant. */
  inner: Draft | null;
}

export const EMPTY: Draft = {
  text: '',
  chosen: -1,
  isNull: false,
  items: [],
  fields: Object.create(null),
  inner: null,
};

/** What a form gives: the value, or that there is none, and what is wrong, by the path of the field. */
export interface Reading {
  /** Absent where nothing was given. */
  value?: unknown;
  errors: ReadonlyMap<string, string>;
}

const NONE: Reading = { errors: new Map() };

/** A form at its beginning. A required field begins with its default; of others the server knows the default. */
export function draftOf(field: Field): Draft {
  if (field.required && Object.hasOwn(field, 'default')) return draftFrom(field, field.default) ?? EMPTY;
  if (field.kind === 'group')
    return { ...EMPTY, fields: byName(field.fields.map((one) => [one.name, draftOf(one)])) };
  if (field.kind === 'list' && field.required && field.minItems !== null)
    return {
      ...EMPTY,
      items: Array.from({ length: Math.min(field.minItems, 20) }, () => draftOf(field.item)),
    };
  if (field.kind === 'choice' && field.required && field.options.length === 1) return { ...EMPTY, chosen: 0 };
  if (field.kind === 'variants' && field.required)
    return { ...EMPTY, chosen: 0, inner: draftOf(field.variants[0]!.field) };
  return EMPTY;
}

/** The form that gives this value; undefined where no form gives it. */
export function draftFrom(field: Field, value: unknown): Draft | undefined {
  if (value === undefined) return EMPTY;
  if (value === null && field.nullable) return { ...EMPTY, isNull: true };
  switch (field.kind) {
    case 'text':
      if (typeof value !== 'string' || (value === '' && !mayBeEmpty(field))) return undefined;
      return { ...EMPTY, text: value };
    case 'number':
      return typeof value === 'number' ? { ...EMPTY, text: String(value) } : undefined;
    case 'json':
      return { ...EMPTY, text: JSON.stringify(value, null, 2) };
    case 'choice': {
      const chosen = field.options.findIndex((option) => isSame(option.value, value));
      return chosen < 0 ? undefined : { ...EMPTY, chosen };
    }
    case 'list': {
      if (!Array.isArray(value)) return undefined;
      const items = value.map((item) => draftFrom(field.item, item));
      return items.every((item) => item !== undefined) ? { ...EMPTY, items } : undefined;
    }
    case 'group': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      const given = value as Record<string, unknown>;
      if (Object.keys(given).some((name) => !field.fields.some((one) => one.name === name))) return undefined;
      const fields = field.fields.map((one) => [one.name, draftFrom(one, own(given, one.name))] as const);
      if (fields.some(([, draft]) => draft === undefined)) return undefined;
      return { ...EMPTY, fields: byName(fields as [string, Draft][]) };
    }
    case 'variants': {
      for (const [chosen, variant] of field.variants.entries()) {
        const inner = draftFrom(variant.field, value);
        if (inner !== undefined && read(variant.field, inner, '').errors.size === 0)
          return { ...EMPTY, chosen, inner };
      }
      return undefined;
    }
  }
}

/** What a form gives. `path`: of this field, such as `filter.tags[0]`; empty for the whole form. */
export function read(field: Field, draft: Draft, path: string): Reading {
  if (draft.isNull && field.nullable) return given(null);
  switch (field.kind) {
    case 'text':
      return readText(field, draft, path);
    case 'number':
      return readNumber(field, draft, path);
    case 'choice':
      return readChoice(field, draft, path);
    case 'json':
      return readJson(field, draft, path);
    case 'list':
      return readList(field, draft, path);
    case 'group':
      return readGroup(field, draft, path);
    case 'variants':
      return readVariants(field, draft, path);
  }
}

/** The path of a field of a group. */
export function pathTo(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function readText(field: TextField, { text }: Draft, path: string): Reading {
  if (text === '') {
    if (!field.required) return NONE;
    return mayBeEmpty(field) ? given('') : wrong(path, 'a value is required');
  }
  const length = [...text].length;
  const { minLength, maxLength, format } = field;
  if (minLength !== null && length < minLength)
    return wrong(path, `at least ${minLength} characters; it has ${length}`);
  if (maxLength !== null && length > maxLength)
    return wrong(path, `at most ${maxLength} characters; it has ${length}`);
  const check = format === null ? undefined : FORMATS[format];
  if (check !== undefined && !check.fits(text)) return wrong(path, check.says);
  return given(text);
}

/** A form gives an empty text only where the schema names one: an empty field mostly means that it was forgotten. */
function mayBeEmpty({ required, minLength, default: initial }: TextField): boolean {
  return required && (minLength === 0 || initial === '');
}

const FORMATS: Readonly<Record<string, { fits: (text: string) => boolean; says: string }>> = {
  uri: { fits: (text) => URL.canParse(text), says: 'a whole address, such as https://example.com' },
  email: { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), says: 'an address, such as ann@example.com' },
  date: { fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text), says: 'a date, such as 2026-01-31' },
  'date-time': {
    fits: (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
    says: 'a time, such as 2026-01-31T12:00:00Z',
  },
};

function readNumber(field: NumberField, draft: Draft, path: string): Reading {
  const text = draft.text.trim();
  if (text === '') return field.required ? wrong(path, 'a value is required') : NONE;
  const value = Number(text);
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) || !Number.isFinite(value))
    return wrong(path, 'a number');
  const { integer, minimum, maximum, above, below, multipleOf } = field;
  if (integer && !Number.isInteger(value)) return wrong(path, 'a whole number');
  if (minimum !== null && value < minimum) return wrong(path, `at least ${minimum}`);
  if (maximum !== null && value > maximum) return wrong(path, `at most ${maximum}`);
  if (above !== null && value <= above) return wrong(path, `more than ${above}`);
  if (below !== null && value >= below) return wrong(path, `less than ${below}`);
  if (multipleOf !== null && multipleOf > 0 && !isMultiple(value, multipleOf))
    return wrong(path, `a multiple of ${multipleOf}`);
  return given(value);
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function readChoice(field: ChoiceField, { chosen }: Draft, path: string): Reading {
  const option = field.options[chosen];
  if (option !== undefined) return given(option.value);
  return field.required ? wrong(path, 'choose one') : NONE;
}

function readJson(field: JsonField, { text }: Draft, path: string): Reading {
  if (text.trim() === '') return field.required ? wrong(path, 'a value is required') : NONE;
  return parseJson(text, path);
}

/** What a field for JSON gives. */
export function parseJson(text: string, path: string): Reading {
  try {
    return given(JSON.parse(text));
  } catch (error) {
    return wrong(path, `no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readList(field: ListField, { items }: Draft, path: string): Reading {
  if (items.length === 0 && !field.required) return NONE;
  const { minItems, maxItems } = field;
  if (minItems !== null && items.length < minItems)
    return wrong(path, `at least ${minItems} items; it has ${items.length}`);
  if (maxItems !== null && items.length > maxItems)
    return wrong(path, `at most ${maxItems} items; it has ${items.length}`);
  const readings = items.map((item, index) => read(field.item, item, `${path}[${index}]`));
  return { value: readings.map(({ value }) => value), errors: allErrors(readings) };
}

function readGroup(field: GroupField, draft: Draft, path: string): Reading {
  const readings = field.fields.map((one) =>
    read(one, own(draft.fields, one.name) ?? EMPTY, pathTo(path, one.name)),
  );
  const isEmpty = field.fields.every((one) => isUntouched(one, own(draft.fields, one.name) ?? EMPTY));
  // an optional group that was left empty is not given, so that nothing in it is required
  if (isEmpty && !field.required) return NONE;
  const entries = field.fields.flatMap(({ name }, index) => {
    const reading = readings[index]!;
    return Object.hasOwn(reading, 'value') ? [[name, reading.value] as const] : [];
  });
  return { value: byName(entries), errors: allErrors(readings) };
}

function readVariants(field: VariantsField, { chosen, inner }: Draft, path: string): Reading {
  const variant = field.variants[chosen];
  if (variant === undefined) return field.required ? wrong(path, 'choose one') : NONE;
  return read(variant.field, inner ?? draftOf(variant.field), path);
}

/** It holds nothing but what it began with. */
function isUntouched(field: Field, draft: Draft): boolean {
  if (field.kind === 'group')
    return field.fields.every((one) => isUntouched(one, own(draft.fields, one.name) ?? EMPTY));
  return isSame(draft, EMPTY) || isSame(draft, draftOf(field));
}

function given(value: unknown): Reading {
  return { value, errors: NONE.errors };
}

function wrong(path: string, message: string): Reading {
  return { errors: new Map([[path, message]]) };
}

function allErrors(readings: readonly Reading[]): Map<string, string> {
  return new Map(readings.flatMap(({ errors }) => [...errors]));
}

/** A name may be `__proto__`. */
function byName<V>(entries: readonly (readonly [string, V])[]): Record<string, V> {
  return Object.fromEntries(entries);
}

function own<V>(fields: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
