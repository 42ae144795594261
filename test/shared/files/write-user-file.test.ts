import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ToolherdError } from '../../../src/shared/errors.js';
import { type Disk, writeFileAtomically } from '../../../src/shared/files/write-user-file.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'toolherd-write-'));
  path = join(folder, 'agent.yaml');
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

const modeOf = async (file: string) => (await fs.stat(file)).mode & 0o7777;
const diskError = (code: string) => Object.assign(new Error(`${code}: failed on purpose`), { code });

test('the new text replaces the old one and no temporary file is left', async () => {
  await fs.writeFile(path, 'old');
  await writeFileAtomically(path, 'new é');
  expect(await fs.readFile(path, 'utf8')).toBe('new é');
  expect(await fs.readdir(folder)).toEqual(['agent.yaml']);
});

test('a reader that has the file open still reads the old text', async () => {
  await fs.writeFile(path, 'old');
  const reader = await fs.open(path);
  await writeFileAtomically(path, 'new');
  expect(await reader.readFile('utf8')).toBe('old');
  await reader.close();
});

test.each([0o600, 0o640, 0o664, 0o444])('the mode stays unchanged: %o', async (mode) => {
  await fs.writeFile(path, 'old');
  await fs.chmod(path, mode);
  const readable: Disk = { ...fs, access: async () => undefined };
  await writeFileAtomically(path, 'new', { disk: readable });
  expect(await modeOf(path)).toBe(mode);
});

test('the owner stays unchanged', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can give a file away');
  await fs.writeFile(path, 'old');
  await fs.chown(path, 12345, 54321);
  await writeFileAtomically(path, 'new');
  expect(await fs.stat(path)).toMatchObject({ uid: 12345, gid: 54321 });
});

test('a new file is private, and so are the folders made for it', async () => {
  const deep = join(folder, 'a', 'b', 'config.yaml');
  await writeFileAtomically(deep, 'new');
  expect(await fs.readFile(deep, 'utf8')).toBe('new');
  expect(await modeOf(deep)).toBe(0o600);
  expect(await modeOf(join(folder, 'a'))).toBe(0o700);
  expect(await modeOf(join(folder, 'a', 'b'))).toBe(0o700);
});

describe('a symlink stays and its target is written', () => {
  test('several links in a row stay', async () => {
    await fs.mkdir(join(folder, 'dotfiles'));
    await fs.writeFile(join(folder, 'dotfiles', 'agent.yaml'), 'old');
    await fs.symlink(join('dotfiles', 'agent.yaml'), join(folder, 'link'));
    await fs.symlink('link', path);
    await writeFileAtomically(path, 'new');
    expect(await fs.readlink(path)).toBe('link');
    expect(await fs.readlink(join(folder, 'link'))).toBe(join('dotfiles', 'agent.yaml'));
    expect(await fs.readFile(join(folder, 'dotfiles', 'agent.yaml'), 'utf8')).toBe('new');
    expect((await fs.readdir(folder)).sort()).toEqual(['agent.yaml', 'dotfiles', 'link']);
    expect(await fs.readdir(join(folder, 'dotfiles'))).toEqual(['agent.yaml']);
  });

  test('a link to a file that does not exist yet stays', async () => {
    await fs.symlink(join('dotfiles', 'agent.yaml'), path);
    await writeFileAtomically(path, 'new');
    expect(await fs.readlink(path)).toBe(join('dotfiles', 'agent.yaml'));
    expect(await fs.readFile(join(folder, 'dotfiles', 'agent.yaml'), 'utf8')).toBe('new');
  });

  test('a loop of links is an error', async () => {
    await fs.symlink('agent.yaml', path);
    await expect(writeFileAtomically(path, 'new')).rejects.toMatchObject({
      why: expect.stringMatching(/ELOOP/),
    });
  });
});

describe('a file that changed since it was read is not overwritten', () => {
  test.each([
    ['changed', 'theirs', 'old'],
    ['created', 'theirs', null],
    ['removed', undefined, 'old'],
  ])('%s meanwhile', async (_, there, read) => {
    if (there !== undefined) await fs.writeFile(path, there);
    const expected = read === null ? null : Buffer.from(read);
    const writing = writeFileAtomically(path, 'new', { expected });
    await expect(writing).rejects.toThrow(`${path} was changed by another program meanwhile`);
    await expect(writing).rejects.toMatchObject({ why: expect.any(String), fix: 'Run the command again.' });
    const left = there === undefined ? [] : ['agent.yaml'];
    expect(await fs.readdir(folder)).toEqual(left);
    if (there !== undefined) expect(await fs.readFile(path, 'utf8')).toBe(there);
  });

  test('changed while the temporary file was written', async () => {
    await fs.writeFile(path, 'old');
    const disk: Disk = {
      ...fs,
      open: async (...parameters: Parameters<Disk['open']>) => {
        await fs.writeFile(path, 'theirs');
        return fs.open(...parameters);
      },
    };
    await expect(writeFileAtomically(path, 'new', { expected: Buffer.from('old'), disk })).rejects.toThrow(
      /meanwhile/,
    );
    expect(await fs.readFile(path, 'utf8')).toBe('theirs');
  });

  test('an unchanged file is overwritten', async () => {
    await fs.writeFile(path, 'old');
    await writeFileAtomically(path, 'new', { expected: Buffer.from('old') });
    expect(await fs.readFile(path, 'utf8')).toBe('new');
    await writeFileAtomically(join(folder, 'other.yaml'), 'new', { expected: null });
  });
});

/** File-system calls of which one fails; those of an open file are named `file.*` and `folder.*`. */
function failing(operation: string, code: string): Disk {
  const fail = async () => {
    throw diskError(code);
  };
  const [subject, method] = operation.split('.');
  if (method === undefined) return { ...fs, [operation]: fail };
  return {
    ...fs,
    open: async (target, flags, mode) => {
      const handle = await fs.open(target, flags, mode);
      const opened = flags === 'r' ? 'folder' : 'file';
      if (opened !== subject) return handle;
      return new Proxy(handle, {
        get: (real, name) => {
          if (name === method) return method === 'close' ? () => real.close().then(fail) : fail;
          const value = Reflect.get(real, name);
          return typeof value === 'function' ? value.bind(real) : value;
        },
      });
    },
  };
}

describe('a failure at any step changes no byte and leaves no temporary file', () => {
  test.each([
    ['realpath', 'EACCES'],
    ['stat', 'EIO'],
    ['access', 'EACCES'],
    ['open', 'EROFS'],
    ['file.stat', 'EIO'],
    ['file.chmod', 'EPERM'],
    ['file.writeFile', 'ENOSPC'],
    ['file.sync', 'EIO'],
    ['file.close', 'EDQUOT'],
    ['readFile', 'EIO'],
    ['rename', 'EPERM'],
  ])('%s fails with %s', async (operation, code) => {
    await fs.writeFile(path, 'old', { mode: 0o640 });
    const disk = failing(operation, code);
    const writing = writeFileAtomically(path, 'new', { expected: Buffer.from('old'), disk });
    await expect(writing).rejects.toBeInstanceOf(ToolherdError);
    await expect(writing).rejects.toMatchObject({
      message: `${path} could not be written`,
      why: expect.stringContaining(code),
      fix: expect.stringMatching(/\.$/),
    });
    expect(await fs.readFile(path, 'utf8')).toBe('old');
    expect(await fs.readdir(folder)).toEqual(['agent.yaml']);
  });

  test('mkdir fails for a new file', async () => {
    const disk = failing('mkdir', 'EACCES');
    await expect(writeFileAtomically(join(folder, 'a', 'b'), 'new', { disk })).rejects.toThrow(
      /could not be written/,
    );
    expect(await fs.readdir(folder)).toEqual([]);
  });

  test('C4: half of the text is written, then the disk is full', async () => {
    await fs.writeFile(path, 'old');
    const disk: Disk = {
      ...fs,
      open: async (target, flags, mode) => {
        const handle = await fs.open(target, flags, mode);
        const write = handle.writeFile.bind(handle);
        handle.writeFile = async () => {
          await write('half of');
          throw diskError('ENOSPC');
        };
        return handle;
      },
    };
    await expect(writeFileAtomically(path, 'half of it', { disk })).rejects.toMatchObject({
      fix: 'Free some space on the disk and run the command again.',
    });
    expect(await fs.readFile(path, 'utf8')).toBe('old');
    expect(await fs.readdir(folder)).toEqual(['agent.yaml']);
  });
});

test('a folder that cannot be synced does not fail a completed write', async () => {
  await fs.writeFile(path, 'old');
  await writeFileAtomically(path, 'new', { disk: failing('folder.sync', 'EINVAL') });
  expect(await fs.readFile(path, 'utf8')).toBe('new');
});

test('the text is synced before the rename, and the folder before the write returns', async () => {
  const steps: string[] = [];
  const disk: Disk = {
    ...fs,
    open: async (target, flags, mode) => {
      const handle = await fs.open(target, flags, mode);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        steps.push(flags === 'r' ? 'sync folder' : 'sync file');
        return sync();
      };
      if (flags !== 'r') expect([flags, mode]).toEqual(['wx', 0o600]);
      return handle;
    },
    rename: async (from, to) => {
      steps.push('rename');
      return fs.rename(from, to);
    },
  };
  await writeFileAtomically(path, 'new', { disk });
  expect(steps).toEqual(['sync file', 'rename', 'sync folder']);
});

test('only a regular file is replaced', async () => {
  await expect(writeFileAtomically(folder, 'new')).rejects.toMatchObject({
    why: 'It is not a regular file.',
  });
  await expect(writeFileAtomically('/dev/full', 'new')).rejects.toThrow(/cannot be written/);
});
