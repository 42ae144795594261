import { Scalar, stringify } from 'yaml';
import { isObject } from '../../shared/json.js';
import type { Indentation } from './indentation.js';

/**
 * Prints new values only; existing text is never printed again. The YAML library decides how a scalar is quoted. The
 * layout is ours, since the library supports neither `-   name` nor every way to indent a list.
 */
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  // YAML 1.1 parsers do not read `yes`, `12:30` and dates as strings.
  compat: 'yaml-1.1',
  lineWidth: 0,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  flowCollectionPadding: false,
} as const;

/**
 * Characters that some YAML parsers take for line breaks or reject even in quotes, and those that reverse the direction
 * of text.
 */
const TO_ESCAPE = /[\x7f-\x9f\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/g;

export interface FlowStyle {
  /** Every string in double quotes, so that a JSON file stays JSON. */
  json: boolean;
  /** `{ a: 1 }` rather than `{a: 1}`. */
  padding: boolean;
}

/** The lines of one item of a block list, with the dash at `column`. */
export function printItem(value: unknown, column: number, indentation: Indentation): string[] {
  const { dashWidth, innerDashWidth } = indentation;
  const dash = `${' '.repeat(column)}-${' '.repeat(dashWidth - 1)}`;
  const inner = printBlock(value, dash.length, { ...indentation, dashWidth: innerDashWidth });
  if (typeof inner === 'string') return [dash + inner];
  return inner.map((line, index) => (index === 0 ? dash + line.slice(dash.length) : line));
}

/** The lines of a key and its value, with the key at `column`. */
export function printPair(key: string, value: unknown, column: number, indentation: Indentation): string[] {
  const { step, listOffset } = indentation;
  const inner = printBlock(value, column + (Array.isArray(value) ? listOffset : step), indentation);
  const head = `${' '.repeat(column)}${printKey(key, false)}:`;
  return typeof inner === 'string' ? [`${head} ${inner}`] : [head, ...inner];
}

/** A collection as lines; anything that fits after its key or dash as text. */
function printBlock(value: unknown, column: number, indentation: Indentation): string | string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value.flatMap((item) => printItem(item, column, indentation));
  }
  if (!isObject(value)) return printScalar(value, false);
  const pairs = pairsOf(value);
  if (pairs.length === 0) return '{}';
  return pairs.flatMap(([key, inner]) => printPair(key, inner, column, indentation));
}

/** A value on one line, for a flow collection. */
export function printFlow(value: unknown, style: FlowStyle): string {
  if (Array.isArray(value)) {
    return enclose(
      '[',
      value.map((item) => printFlow(item, style)),
      ']',
      style,
    );
  }
  if (!isObject(value)) return style.json ? printJson(value) : printScalar(value, true);
  const pairs = pairsOf(value).map(([key, inner]) => printFlowPair(key, inner, style));
  return enclose('{', pairs, '}', style);
}

export function printFlowPair(key: string, value: unknown, style: FlowStyle): string {
  return `${style.json ? printJson(key) : printKey(key, true)}: ${printFlow(value, style)}`;
}

function enclose(open: string, parts: readonly string[], close: string, style: FlowStyle): string {
  const space = style.padding && parts.length > 0 ? ' ' : '';
  return `${open}${space}${parts.join(', ')}${space}${close}`;
}

function printScalar(value: unknown, inFlow: boolean): string {
  const list = [scalarOf(value)];
  return inFlow
    ? printed(list, inFlow).slice('['.length, -']'.length)
    : printed(list, inFlow).slice('- '.length);
}

function printKey(key: string, inFlow: boolean): string {
  const map = new Map([[scalarOf(key), 0]]);
  return inFlow
    ? printed(map, inFlow).slice('{'.length, -': 0}'.length)
    : printed(map, inFlow).slice(0, -': 0'.length);
}

/** Without the line break that the library appends. */
function printed(value: unknown, flow: boolean): string {
  return escapeRare(stringify(value, { ...OPTIONS, flow }).slice(0, -1));
}

function scalarOf(value: unknown): Scalar {
  const scalar = new Scalar(value ?? null);
  const quoted = typeof value === 'string' && (value.includes('\n') || value.search(TO_ESCAPE) !== -1);
  if (quoted) scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

function printJson(value: unknown): string {
  return escapeRare(JSON.stringify(value ?? null));
}

/** Such a character can only remain inside double quotes, where escapes work. */
function escapeRare(printed: string): string {
  return printed.replace(TO_ESCAPE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function pairsOf(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).filter(([, inner]) => inner !== undefined);
}
