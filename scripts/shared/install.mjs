// Installs npm packages below .cache/, where they stay for the next run. Nothing is installed on the machine.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';

const CACHE = join(import.meta.dirname, '..', '..', '.cache');

/**
 * @param {string} spec `name@version`; the version may be only a beginning, like `24`
 * @param {{ folder: string, manifest?: object, env?: NodeJS.ProcessEnv }} options `folder`: below .cache/;
 *   `manifest`: further fields of the package.json in that folder
 * @returns {{ folder: string, version: string }} the folder that has it in its node_modules, and its exact version
 */
export function install(spec, { folder: name, manifest: more = {}, env = process.env }) {
  const folder = join(CACHE, name);
  const at = spec.lastIndexOf('@');
  const manifest = join(folder, 'node_modules', spec.slice(0, at), 'package.json');
  const installed = () => JSON.parse(readFileSync(manifest, 'utf8')).version;
  if (!existsSync(manifest) || !`${installed()}.`.startsWith(`${spec.slice(at + 1)}.`)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true, ...more })}\n`);
    const args = [
      'install',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--foreground-scripts',
    ];
    try {
      const stdio = /** @type {const} */ (['ignore', 'ignore', 'inherit']);
      execaSync('npm', [...args, spec], { cwd: folder, env, extendEnv: false, stdio });
    } catch (error) {
      throw new Error(`npm could not install ${spec}`, { cause: error });
    }
  }
  return { folder, version: installed() };
}

/**
 * The binary of another line of Node, from the npm package `node`.
 * @param {string} line like `24`
 * @param {NodeJS.ProcessEnv} [env]
 */
export function installNode(line, env = process.env) {
  const { folder } = install(`node@${line}`, { folder: `node-${line}`, env });
  const node = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(node)) {
    // npm does not always run the package's install step, which puts the binary of this platform in place
    const step = join(folder, 'node_modules', 'node', 'installArchSpecificPackage.js');
    execaSync(process.execPath, [step], { cwd: folder, env, extendEnv: false, stdio: 'inherit' });
  }
  return node;
}
