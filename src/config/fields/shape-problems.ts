import type * as z from 'zod/mini';
import { type Data, isMap, type SourceDocument } from '../parse/document.js';
import { formatPath, type Path, type Problem } from '../parse/problem.js';

interface Wanted {
  type: Problem['type'];
  schema: z.ZodMiniType;
  /** The path of the checked value in the document. */
  path: Path;
  /** Every name that the value may have at its top level, for suggestions. */
  known: readonly string[];
  /** The description of a field, for the fix. */
  about(field: string): string | undefined;
}

/** A problem, and its path from the checked value. */
export interface ShapeProblem {
  problem: Problem;
  inner: Path;
}

/** Checks a value against its schema. Each problem says what must be there and never quotes what is. */
export function shapeProblems(document: SourceDocument, value: Data, wanted: Wanted): ShapeProblem[] {
  const result = wanted.schema.safeParse(value);
  if (result.success) return [];
  return result.error.issues.flatMap((issue) => {
    const inner = issue.path as (string | number)[];
    const path = [...wanted.path, ...inner];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        problem: unknownField(document, [...path, key], inner, wanted),
        inner: [...inner, key],
      }));
    }
    const label = `'${formatPath(inner)}'`;
    const given = valueAt(value, inner);
    if (given === undefined) {
      const fix = `add '${inner.at(-1)}'${aboutClause(wanted, inner)}`;
      return [{ problem: document.problem(wanted.type, path, `${label} is required`, fix), inner }];
    }
    const near =
      typeof given === 'string' && issue.message.startsWith('one of ')
        ? document.didYouMean(given, issue.message.slice('one of '.length).split(', '))
        : '';
    const subject = inner.length === 0 ? 'This' : label;
    const fix = near === '' ? `change it${aboutClause(wanted, inner)}` : near;
    return [
      { problem: document.problem(wanted.type, path, `${subject} must be ${issue.message}`, fix), inner },
    ];
  });
}

function unknownField(document: SourceDocument, path: Path, inner: Path, wanted: Wanted): Problem {
  const key = String(path.at(-1));
  const near = document.didYouMean(key, inner.length === 0 ? wanted.known : namesAt(wanted.schema, inner));
  const where = inner.length === 0 ? '' : ` in '${formatPath(inner)}'`;
  const fix = near === '' ? 'remove it, or see docs/CONFIG.md for the fields there are' : near;
  return document.problem(wanted.type, path, `Unknown field ${quoteName(key)}${where}`, fix, 'key');
}

/** The names that a map inside the checked value may have. */
function namesAt(schema: z.ZodMiniType, path: Path): string[] {
  let node: unknown = schema;
  for (const step of path) node = shapeOf(node)[step];
  return Object.keys(shapeOf(node));
}

function shapeOf(schema: unknown): Record<string | number, unknown> {
  const { def } = (schema as { _zod?: { def: unknown } } | undefined)?._zod ?? {};
  const { shape, innerType } = (def ?? {}) as { shape?: Record<string, unknown>; innerType?: unknown };
  return shape ?? (innerType === undefined ? {} : shapeOf(innerType));
}

function aboutClause(wanted: Wanted, inner: Path): string {
  const about = typeof inner[0] === 'string' ? wanted.about(inner[0]) : undefined;
  return about === undefined ? '' : `: ${about}`;
}

function valueAt(value: Data, path: Path): Data | undefined {
  let node: Data | undefined = value;
  for (const step of path) {
    if (Array.isArray(node)) node = node[step as number];
    else if (isMap(node) && Object.hasOwn(node, step)) node = node[step];
    else return undefined;
  }
  return node;
}

/** Names from a file are shortened and shown on one line, without control characters. */
export function quoteName(name: string): string {
  const plain = name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return `'${plain.length > 60 ? `${plain.slice(0, 59)}…` : plain}'`;
}
