// The Chromium of an npm package, for the tests of the page and for its screenshots.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const CACHE = join(import.meta.dirname, '..', '..', '.cache');
const PACKAGE = '@sparticuz/chromium';

/**
 * The switches of the package are for a browser that only makes pictures: they turn off the rules about origins
 * (`--disable-web-security`), which are tested here. So none of them is used.
 */
const SWITCHES = [
  // it may run as root, in a container
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--in-process-gpu',
  '--font-render-hinting=none',
  // it asks nothing of the world
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** @returns {Promise<import('playwright-core').Browser>} */
export async function launchBrowser() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`${PACKAGE} has a browser for Linux on x64 only`);
  const folder = unpackBrowser();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: SWITCHES,
    headless: true,
    env: { PATH: process.env.PATH ?? '', HOME: folder, FONTCONFIG_PATH: fontConfigOf(folder) },
  });
}

/** Unpacks it once. Several processes may ask at a time: one unpacks, and the others wait for it. */
function unpackBrowser() {
  const manifest = createRequire(import.meta.url)
    .resolve(PACKAGE)
    .replace(/build\/.*$/, 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const folder = join(CACHE, `chromium-${version}`);
  if (isUnpacked(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const program = [process.execPath, import.meta.filename, folder];
  execFileSync('flock', [`${folder}.lock`, ...program], { stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

/** The package unpacks to the folder of temporary files, in several steps. */
async function unpack(/** @type {string} */ folder) {
  if (isUnpacked(folder)) return;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  process.env.TMPDIR = part;
  const { default: packed } = await import('@sparticuz/chromium');
  await packed.executablePath();
  mkdirSync(fontConfigOf(part));
  writeFileSync(join(fontConfigOf(part), 'fonts.conf'), fontConfig(join(folder, 'fonts')));
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
}

const isUnpacked = (/** @type {string} */ folder) => existsSync(fontConfigOf(folder));

const fontConfigOf = (/** @type {string} */ folder) => join(folder, 'font-config');

/** The package's own file names folders that only its servers have. A browser that finds no font ends with the first page. */
const fontConfig = (/** @type {string} */ fonts) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${fonts}</dir>
  <cachedir>${fonts}-cache</cachedir>
</fontconfig>
`;

if (process.argv[1] === import.meta.filename) await unpack(process.argv[2] ?? '');
