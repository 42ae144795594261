import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The vitest projects. No list of files is kept by hand: the sources of a test (its file, and the files of test/ that it
 * imports) say where it belongs.
 * - isolated: its file has a line `// isolated: WHY`. It measures its process, so it has one without other tests in it.
 * - e2e: its sources include test/support/command.ts. It runs what users run: the build.
 * - process: its sources start processes. It runs real servers, with the supervisor from src.
 * - unit: all others. No build, no processes: seconds.
 */
export interface Projects {
  unit: string[];
  process: string[];
  e2e: string[];
  isolated: string[];
}

const ROOT = join(import.meta.dirname, '..');
const TEST = join(ROOT, 'test');
/** Only this module has the path of the build. */
const BUILD = join(TEST, 'support', 'command.ts');
/** The first starts only `ps`; the second is this file, which names what it looks for. */
const HARMLESS = [join(TEST, 'support', 'processes.ts'), join(TEST, 'projects.ts')];
const STARTS_PROCESS = /node:child_process|process\.execPath|['"/]fixtures['"/]/;
const IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/gm;
const ISOLATED = /^\/\/ isolated: \S/m;

/** All paths are relative to the repository. */
export function findProjects(): Projects {
  const projects: Projects = { unit: [], process: [], e2e: [], isolated: [] };
  for (const name of readdirSync(TEST, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.test.ts')) projects[projectOf(join(TEST, name))].push(join('test', name));
  }
  return projects;
}

function projectOf(file: string): keyof Projects {
  if (ISOLATED.test(readSource(file).text)) return 'isolated';
  const sources = new Set([file]);
  for (const one of sources) for (const other of readSource(one).imports) sources.add(other);
  if (sources.has(BUILD)) return 'e2e';
  const startsProcess = (one: string) => !HARMLESS.includes(one) && STARTS_PROCESS.test(readSource(one).text);
  return [...sources].some(startsProcess) ? 'process' : 'unit';
}

interface Source {
  text: string;
  /** The files of test/ that it imports. */
  imports: string[];
}

const read = new Map<string, Source>();

function readSource(file: string): Source {
  const known = read.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(IMPORT)]
    .map(([, from, dynamic]) => resolve(dirname(file), (from ?? dynamic ?? '').replace(/\.js$/, '.ts')))
    .filter((path) => path.startsWith(TEST) && path.endsWith('.ts') && existsSync(path));
  read.set(file, { text, imports });
  return { text, imports };
}
