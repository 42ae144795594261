import { getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { LineIndex } from '../config/parse/document.js';
import { parseYaml } from '../config/parse/parse-yaml.js';
import { ConfigError } from '../config/parse/problem.js';
import { readIfExists } from '../config/parse/read-file.js';
import { ToolherdError } from '../shared/errors.js';
import type { Client } from './clients/client.js';

/** Some clients keep their history in the same file as their servers, so it can have megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The text of a client's file; undefined when there is none. */
export function readClientFile(file: string): string | undefined {
  return readIfExists(file, MAX_BYTES);
}

/** The values of a client's file. Errors name the position and never quote the text, which may hold a secret. */
export function parseDocument(format: Client['format'], file: string, text: string): unknown {
  if (format === 'yaml') return yamlValue(file, text);
  if (format === 'toml') return tomlValue(file, text);
  return jsonValue(file, text);
}

function jsonValue(file: string, text: string): unknown {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  let value: unknown;
  try {
    // Not `parse`: it builds objects with a prototype, and a `__proto__` key in the file would replace it.
    const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
    value = root && getNodeValue(root);
  } catch {
    // The parser recurses: deep nesting overflows the stack.
    throw unreadable(file, 'nested too deeply', '');
  }
  const [first] = errors;
  if (first === undefined) return value;
  const { line, column } = new LineIndex(text).at(first.offset);
  throw unreadable(file, 'not valid JSON', `:${line}:${column}`);
}

function tomlValue(file: string, text: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    const { line, column } = error as { line?: number; column?: number };
    throw unreadable(file, 'not valid TOML', line === undefined ? '' : `:${line}:${column}`);
  }
}

function yamlValue(file: string, text: string): unknown {
  try {
    return parseYaml(file, text).value ?? {};
  } catch (error) {
    const problem = error instanceof ConfigError ? error.problems[0] : undefined;
    throw unreadable(
      file,
      'not valid YAML',
      problem === undefined ? '' : `:${problem.line}:${problem.column}`,
    );
  }
}

function unreadable(file: string, why: string, place: string): ToolherdError {
  return new ToolherdError(`${file} cannot be read`, {
    why: `it is ${why}`,
    fix: `correct it at ${file}${place}`,
  });
}
