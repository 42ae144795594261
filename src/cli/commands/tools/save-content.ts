import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ToolResult } from '../../../fleet/fleet.js';
import { isCode } from '../../../shared/errors.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';

/** File endings that differ from the second half of the MIME type. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'text/javascript': 'js',
  'text/markdown': 'md',
  'text/plain': 'txt',
};

/** File systems allow 255 bytes. */
const LONGEST_NAME = 200;

/**
 * Saves what a tool answered besides text: into the folder `out` (--out), else into a new temporary one. Answers with a line
 * about each file. toolherd chooses the names of the files: a server must not choose where to write.
 */
export function saveContent(
  { cwd }: CommandContext,
  { content, metadata }: ToolResult,
  out: string | undefined,
): string[] {
  let folder: string | undefined;
  const place = () => (folder ??= makeFolder(out === undefined ? undefined : resolve(cwd, out)));
  return content.flatMap((block, index) => {
    if (block.type === 'text') return [];
    if (block.type === 'unknown') return [singleLine(`(${block.original_type} content; see --raw)`)];
    if (block.data === null)
      return [singleLine(`(a link to ${'uri' in block ? block.uri : 'nothing'}; see --raw)`)];
    const bytes = Buffer.from(block.data, 'base64');
    const owner = `${metadata.server}.${metadata.tool}`.replaceAll(/[^\w.-]/g, '-').slice(0, LONGEST_NAME);
    const file = write(place(), `${owner}-${index + 1}`, ending(block.mime_type), bytes);
    return [`${singleLine(block.mime_type ?? 'bytes')} (${bytes.length} bytes) saved to ${file}`];
  });
}

function makeFolder(wanted: string | undefined): string {
  try {
    if (wanted === undefined) return mkdtempSync(join(tmpdir(), 'toolherd-'));
    mkdirSync(wanted, { recursive: true });
    return wanted;
  } catch (error) {
    const label = wanted === undefined ? 'no temporary folder' : '--out';
    throw new UsageError(
      `${label}: ${(error as Error).message}`,
      'name a folder that can be written to with --out',
    );
  }
}

/** Never overwrites a file. */
function write(folder: string, stem: string, end: string, bytes: Buffer): string {
  for (let copy = 1; ; copy += 1) {
    const file = join(folder, `${stem}${copy === 1 ? '' : `-${copy}`}.${end}`);
    try {
      writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
      return file;
    } catch (error) {
      if (isCode(error, 'EEXIST')) continue;
      throw new UsageError(
        `cannot write ${file}: ${(error as Error).message}`,
        'name another folder with --out',
      );
    }
  }
}

function ending(type: string | null): string {
  const [kind = ''] = (type ?? '').toLowerCase().split(';');
  const half = kind.split('/')[1] ?? '';
  if (Object.hasOwn(ENDINGS, kind)) return ENDINGS[kind]!;
  return /^[a-z0-9]{1,8}$/.test(half) ? half : 'bin';
}
