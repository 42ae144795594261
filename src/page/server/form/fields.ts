import { isObject } from '../../../shared/json.js';

/** A form for the arguments of a tool, made from its JSON Schema. What a form cannot show is a field for JSON. */

export interface FieldBase {
  /** Empty for the whole form and for items of a list. */
  name: string;
  title: string;
  description: string;
  required: boolean;
  nullable: boolean;
  /** Absent: the schema has none. */
  default?: unknown;
}

export interface TextField extends FieldBase {
  kind: 'text';
  format: string | null;
  minLength: number | null;
  maxLength: number | null;
  /** It is shown and never run: a hostile one could freeze the page. The server checks it. */
  pattern: string | null;
}

export interface NumberField extends FieldBase {
  kind: 'number';
  integer: boolean;
  minimum: number | null;
  maximum: number | null;
  above: number | null;
  below: number | null;
  multipleOf: number | null;
}

export interface ChoiceField extends FieldBase {
  kind: 'choice';
  options: readonly { label: string; value: unknown }[];
}

export interface ListField extends FieldBase {
  kind: 'list';
  item: Field;
  minItems: number | null;
  maxItems: number | null;
}

export interface GroupField extends FieldBase {
  kind: 'group';
  fields: readonly Field[];
}

export interface VariantsField extends FieldBase {
  kind: 'variants';
  variants: readonly { label: string; field: Field }[];
}

export interface JsonField extends FieldBase {
  kind: 'json';
  /** Why there is no form for it. */
  reason: string;
}

export type Field =
  | TextField
  | NumberField
  | ChoiceField
  | ListField
  | GroupField
  | VariantsField
  | JsonField;

type Schema = Record<string, unknown>;

/** Where a form is in its schema. */
interface Place {
  root: unknown;
  name: string;
  required: boolean;
  depth: number;
  /** The `$ref`s that led here: a schema may contain itself. */
  refs: readonly string[];
}

const MAX_DEPTH = 6;
/** Longer ones are easier to write as JSON. */
const MAX_FIELDS = 60;
const MAX_VARIANTS = 8;
const MAX_OPTIONS = 500;

/** The form for the arguments of a tool: a group, or a field for JSON. */
export function formOf(schema: unknown): Field {
  return fieldOf(schema, { root: schema, name: '', required: true, depth: 0, refs: [] });
}

function fieldOf(given: unknown, place: Place): Field {
  const resolved = resolve(given, place);
  if (typeof resolved === 'string') return json({}, place, resolved);
  const { schema, place: here } = resolved;
  if (Object.hasOwn(schema, 'const')) return choice(schema, here, [schema.const]);
  if (Array.isArray(schema.enum)) return choice(schema, here, schema.enum);
  const variants = arrayOf(schema.anyOf) ?? arrayOf(schema.oneOf);
  if (variants !== null) return variantsOf(schema, here, variants);
  if (schema.allOf !== undefined) return json(schema, here, 'it combines several schemas');
  if (Array.isArray(schema.type)) return typesOf(schema, here, schema.type);
  return fieldOfType(schema, here);
}

function fieldOfType(schema: Schema, place: Place): Field {
  const base = baseOf(schema, place);
  switch (schema.type ?? (isObject(schema.properties) ? 'object' : undefined)) {
    case 'string':
      return {
        ...base,
        kind: 'text',
        format: textOf(schema.format),
        minLength: numberOf(schema.minLength),
        maxLength: numberOf(schema.maxLength),
        pattern: textOf(schema.pattern),
      };
    case 'number':
    case 'integer':
      return {
        ...base,
        kind: 'number',
        integer: schema.type === 'integer',
        minimum: numberOf(schema.minimum),
        maximum: numberOf(schema.maximum),
        above: numberOf(schema.exclusiveMinimum),
        below: numberOf(schema.exclusiveMaximum),
        multipleOf: numberOf(schema.multipleOf),
      };
    case 'boolean':
      return choice(schema, place, [true, false]);
    case 'null':
      return choice(schema, place, [null]);
    case 'array':
      return listOf(schema, place);
    case 'object':
      return groupOf(schema, place);
    default:
      return json(schema, place, 'its schema allows any value');
  }
}

function listOf(schema: Schema, place: Place): Field {
  if (schema.prefixItems !== undefined || Array.isArray(schema.items))
    return json(schema, place, 'each item has another schema');
  if (place.depth >= MAX_DEPTH) return json(schema, place, 'it is nested too deeply');
  const item = fieldOf(schema.items ?? {}, { ...place, name: '', required: true, depth: place.depth + 1 });
  if (item.kind === 'json') return json(schema, place, `of its items ${item.reason}`);
  return {
    ...baseOf(schema, place),
    kind: 'list',
    item,
    minItems: numberOf(schema.minItems),
    maxItems: numberOf(schema.maxItems),
  };
}

function groupOf(schema: Schema, place: Place): Field {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0 && place.depth > 0) return json(schema, place, 'its names are not known');
  if (properties.length > MAX_FIELDS) return json(schema, place, 'it has too many fields');
  if (place.depth >= MAX_DEPTH) return json(schema, place, 'it is nested too deeply');
  const required = new Set(arrayOf(schema.required) ?? []);
  const fields = properties.map(([name, of]) =>
    fieldOf(of, { ...place, name, required: required.has(name), depth: place.depth + 1 }),
  );
  // what has to be given comes first
  const ordered = [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
  return { ...baseOf(schema, place), kind: 'group', fields: ordered };
}

function choice(schema: Schema, place: Place, values: readonly unknown[]): Field {
  if (values.length > MAX_OPTIONS) return json(schema, place, 'it has too many choices');
  const names = arrayOf(schema.enumNames) ?? [];
  const options = values
    .filter((value) => value !== null || values.length === 1)
    .map((value, index) => ({ label: textOf(names[index]) ?? labelOf(value), value }));
  const nullable = values.includes(null) && values.length > 1;
  return { ...baseOf(schema, place), kind: 'choice', options, ...(nullable && { nullable }) };
}

/** `['string', 'null']`, or several types. */
function typesOf(schema: Schema, place: Place, types: readonly unknown[]): Field {
  const real = types.filter((type) => type !== 'null');
  const nullable = real.length < types.length;
  if (real.length === 1)
    return { ...fieldOfType({ ...schema, type: real[0] }, place), ...(nullable && { nullable }) };
  const each = real.map((type) => ({ ...schema, type, title: undefined, description: undefined }));
  return withVariants(schema, place, each, nullable);
}

function variantsOf(schema: Schema, place: Place, variants: readonly unknown[]): Field {
  const real = variants.filter((one) => !isNullSchema(one, place));
  const nullable = real.length < variants.length;
  const { anyOf: _, oneOf: __, ...around } = schema;
  if (real.length === 1 && isObject(real[0])) {
    const field = fieldOf({ ...real[0], ...withoutUndefined(around) }, place);
    return { ...field, ...(nullable && { nullable }) };
  }
  const constants = real.flatMap((one) => (isObject(one) && Object.hasOwn(one, 'const') ? [one] : []));
  if (constants.length === real.length && real.length > 0) {
    const options = constants.map((one) => ({
      label: textOf(one.title) ?? labelOf(one.const),
      value: one.const,
    }));
    return { ...baseOf(schema, place), kind: 'choice', options, ...(nullable && { nullable }) };
  }
  if (schema.properties !== undefined) return json(schema, place, 'it combines several schemas');
  return withVariants(schema, place, real, nullable);
}

function withVariants(schema: Schema, place: Place, each: readonly unknown[], nullable: boolean): Field {
  if (each.length === 0 || each.length > MAX_VARIANTS) return json(schema, place, 'it has too many variants');
  if (place.depth >= MAX_DEPTH) return json(schema, place, 'it is nested too deeply');
  const variants = each.map((one, index) => {
    const field = fieldOf(one, { ...place, name: '', required: true, depth: place.depth + 1 });
    return { label: variantLabel(field, index), field };
  });
  if (variants.some(({ field }) => field.kind === 'json'))
    return json(schema, place, 'one of its variants allows any value');
  return { ...baseOf(schema, place), kind: 'variants', variants, ...(nullable && { nullable }) };
}

const KIND_NAMES: Readonly<Record<Field['kind'], string>> = {
  text: 'text',
  number: 'number',
  choice: 'choice',
  list: 'list',
  group: 'object',
  variants: 'variants',
  json: 'JSON',
};

function variantLabel(field: Field, index: number): string {
  if (field.title !== '') return field.title;
  const names = field.kind === 'group' ? ` (${field.fields.map(({ name }) => name).join(', ')})` : '';
  return `${index + 1}: ${KIND_NAMES[field.kind]}${names}`;
}

/** Follows `$ref` within the document. A text says why there is no form. */
function resolve(given: unknown, place: Place): { schema: Schema; place: Place } | string {
  if (!isObject(given)) return 'its schema allows any value';
  let schema = given;
  let refs = place.refs;
  while (typeof schema.$ref === 'string') {
    const { $ref: ref, ...around } = schema;
    if (refs.includes(ref as string)) return 'its schema contains itself';
    refs = [...refs, ref as string];
    const found = pointer(place.root, ref as string);
    if (!isObject(found)) return `its schema refers to ${ref}, which is not there`;
    schema = { ...found, ...withoutUndefined(around) };
  }
  const all = arrayOf(schema.allOf);
  if (all?.length === 1 && isObject(all[0])) {
    const { allOf: _, ...around } = schema;
    return resolve({ ...all[0], ...around }, { ...place, refs });
  }
  return { schema, place: { ...place, refs } };
}

/** A JSON pointer of this document: `#/$defs/x`. */
function pointer(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  const steps = ref.slice(1).split('/').slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, root);
}

function isNullSchema(schema: unknown, place: Place): boolean {
  const resolved = resolve(schema, place);
  if (typeof resolved === 'string') return false;
  return resolved.schema.type === 'null' || resolved.schema.const === null;
}

function json(schema: Schema, place: Place, reason: string): Field {
  return { ...baseOf(schema, place), kind: 'json', reason };
}

function baseOf(schema: Schema, { name, required }: Place): FieldBase {
  return {
    name,
    title: textOf(schema.title) ?? name,
    description: textOf(schema.description) ?? '',
    required,
    nullable: schema.nullable === true,
    ...(Object.hasOwn(schema, 'default') && { default: schema.default }),
  };
}

export function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function withoutUndefined(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

function arrayOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
