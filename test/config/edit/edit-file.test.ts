import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addEntry, applyEdit, editFile, invertEdit, removeEntry } from '../../../src/config/edit/index.js';
import { ConfigError } from '../../../src/config/parse/problem.js';
import type { Disk } from '../../../src/shared/files/write-user-file.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'toolherd-edit-'));
  path = join(folder, 'agent.yaml');
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

const BEFORE = '\uFEFF# mine é\r\ntools:\r\n  - name: a # ${A}\r\n';
const AFTER = `${BEFORE}  - name: b\r\n`;
const addB = (text: string) => addEntry(text, 'tools', { name: 'b' });
const valid = () => undefined;

/** The file is unchanged and alone in its folder. */
async function expectUntouched(bytes: string | Buffer = BEFORE): Promise<void> {
  expect(await fs.readFile(path)).toEqual(Buffer.from(bytes));
  expect(await fs.readdir(folder)).toEqual(['agent.yaml']);
}

test('a file is read, parsed, validated, modified, validated, written, in this order', async () => {
  await fs.writeFile(path, BEFORE);
  const steps: unknown[] = [];
  const disk: Disk = {
    ...fs,
    rename: async (from, to) => {
      steps.push('write');
      return fs.rename(from, to);
    },
  };
  const edit = (text: string) => {
    steps.push('modify');
    return addB(text);
  };
  const result = await editFile(path, edit, (text) => void steps.push(text), { disk });
  expect(steps).toEqual([BEFORE, 'modify', AFTER, 'write']);
  expect(result).toMatchObject({ before: BEFORE, after: AFTER });
  expect(applyEdit(AFTER, invertEdit(BEFORE, result.edit))).toBe(BEFORE);
  await expectUntouched(AFTER);
});

test('adding and removing gives the same bytes', async () => {
  await fs.writeFile(path, BEFORE);
  await editFile(path, addB, valid);
  await editFile(path, (text) => removeEntry(text, 'tools', 1), valid);
  await expectUntouched();
});

test('a file that does not exist is created, and only its new text is validated', async () => {
  const deep = join(folder, 'toolherd', 'config.yaml');
  const validate = vi.fn();
  const { before } = await editFile(deep, (text) => addEntry(text, 'mcp_servers', { name: 'b' }), validate);
  const text = 'version: "1.0"\nmcp_servers:\n  - name: b\n';
  expect(before).toBe('');
  expect(await fs.readFile(deep, 'utf8')).toBe(text);
  expect(validate.mock.calls).toEqual([[text]]);
});

test('a dry run does everything but the write', async () => {
  await fs.writeFile(path, BEFORE);
  expect(await editFile(path, addB, valid, { dryRun: true })).toMatchObject({ after: AFTER });
  await expectUntouched();
});

test('a link is followed', async () => {
  await fs.writeFile(join(folder, 'target'), BEFORE);
  await fs.symlink('target', path);
  await editFile(path, addB, valid);
  expect(await fs.readlink(path)).toBe('target');
  expect(await fs.readFile(join(folder, 'target'), 'utf8')).toBe(AFTER);
});

describe('an error at any step aborts without changes', () => {
  const refusing = (text: string) => (now: string) => {
    if (now === text) throw new Error('invalid');
  };
  const throwing = () => {
    throw new Error('no such entry');
  };
  const key = BEFORE.indexOf('tools');
  const pushTwo = (text: string) => ({ start: text.length, end: text.length, insert: '  - b\r\n  - c\r\n' });

  test.each([
    ['the edit throws', throwing, valid, 'no such entry'],
    ['the text before is invalid', addB, refusing(BEFORE), 'invalid'],
    ['the text after is invalid', addB, refusing(AFTER), 'invalid'],
    [
      'the text after is invalid, found asynchronously',
      addB,
      async (text: string) => refusing(AFTER)(text),
      'invalid',
    ],
    ['the edit does nothing', () => ({ start: 0, end: 0, insert: '' }), valid, /nothing would change/],
    ['the edit adds two entries', pushTwo, valid, /'tools' would change by something else/],
    ['the edit changes a key', () => ({ start: key, end: key + 5, insert: 'other' }), valid, /would change/],
    ['the edit breaks the YAML', () => ({ start: key, end: key, insert: '[' }), valid, /Not valid YAML/],
  ])('%s', async (_, edit, validate, message) => {
    await fs.writeFile(path, BEFORE);
    const editing = editFile(path, edit, validate);
    await expect(editing).rejects.toThrow(message);
    await expectUntouched();
  });

  test('the file is not YAML: neither validate nor the edit sees it, and the error names the position', async () => {
    const broken = 'tools:\n  - name: "a\n';
    await fs.writeFile(path, broken);
    const never = vi.fn();
    const editing = editFile(path, never, never);
    await expect(editing).rejects.toBeInstanceOf(ConfigError);
    await expect(editing).rejects.toThrow(`${path}:`);
    expect(never).not.toHaveBeenCalled();
    await expectUntouched(broken);
  });

  test('the list cannot be edited: the error names file, line and column', async () => {
    await fs.writeFile(path, '# c\ntools: {}\n');
    await expect(editFile(path, addB, valid)).rejects.toMatchObject({
      problems: [{ file: path, line: 2, column: 8 }],
    });
    await expectUntouched('# c\ntools: {}\n');
  });

  test('a problem that names its own file keeps it', async () => {
    await fs.writeFile(path, BEFORE);
    const problem = { message: 'm', fix: 'f', file: 'other', line: 1, column: 1, path: '' };
    const validate = () => {
      throw new ConfigError([{ type: 'ConfigError', ...problem }]);
    };
    await expect(editFile(path, addB, validate)).rejects.toMatchObject({ problems: [{ file: 'other' }] });
  });

  test('C2: a hostile text does not reach the parser', async () => {
    const hostile = `tools: ${'['.repeat(5000)}`;
    await fs.writeFile(path, hostile);
    await expect(editFile(path, addB, valid)).rejects.toThrow(/Nested deeper/);
    await expectUntouched(hostile);
  });

  test('the file is not UTF-8', async () => {
    const bytes = Buffer.from('tools: [] # \xe9\n', 'latin1');
    await fs.writeFile(path, bytes);
    await expect(editFile(path, addB, valid)).rejects.toThrow(`${path} is not valid UTF-8`);
    await expectUntouched(bytes);
  });

  test('the path is a folder', async () => {
    await expect(editFile(folder, addB, valid)).rejects.toThrow(`${folder} is a folder`);
  });

  test('the file cannot be read', async () => {
    await fs.symlink(path, path);
    await expect(editFile(path, addB, valid)).rejects.toThrow(`${path} could not be read (ELOOP)`);
    expect(await fs.readdir(folder)).toEqual(['agent.yaml']);
  });

  test('C4: the disk is full', async () => {
    await fs.writeFile(path, BEFORE);
    const disk: Disk = {
      ...fs,
      open: async (target, flags, mode) => {
        const handle = await fs.open(target, flags, mode);
        handle.sync = async () => {
          throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
        };
        return handle;
      },
    };
    await expect(editFile(path, addB, valid, { disk })).rejects.toMatchObject({ why: /ENOSPC/ });
    await expectUntouched();
  });

  test('another program changed the file between the read and the write', async () => {
    await fs.writeFile(path, BEFORE);
    const meddling = (text: string) => (text === AFTER ? fs.writeFile(path, 'tools: []\n') : undefined);
    await expect(editFile(path, addB, meddling)).rejects.toThrow(/changed by another program meanwhile/);
    await expectUntouched('tools: []\n');
  });

  test('another program created the file between the read and the write', async () => {
    const meddling = () => fs.writeFile(path, 'tools: []\n');
    await expect(editFile(path, addB, meddling)).rejects.toThrow(/changed by another program meanwhile/);
    await expectUntouched('tools: []\n');
  });
});
