import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { makeFolder } from './folder.js';
import { ROOT } from './run.js';
import { atEnd } from './share.js';

export interface Published {
  name: string;
  version: string;
  /** Default: one command of the package's own name, which is the server of test/fixtures/good.mjs. */
  bin?: string | Record<string, string>;
  files?: Record<string, string | Buffer>;
  /** More of its package.json. */
  manifest?: Record<string, unknown>;
  /** Default: `latest`. */
  tags?: readonly string[];
}

/** A registry of npm on loopback, with packages that a test makes. */
export interface Registry {
  url: string;
  /** The variables that point npm at it. Its cache is a new folder, so that nothing is known beforehand. */
  env: Record<string, string>;
  publish(...packages: readonly Published[]): void;
  /** What npm asked for: paths without the leading slash. */
  asked: string[];
  /** From now on no connection is answered, as without a network. */
  cut(): void;
  mend(): void;
  /** Tarballs of this package are other bytes than announced. */
  spoil(name: string): void;
  /** The answer to a request whose path matches waits; returns a function that lets it pass. */
  hold(path: RegExp): () => void;
}

const FIXTURES = join(ROOT, 'test', 'fixtures');
const SHEBANG = '#!/usr/bin/env node\n';

/** The files of a server with the tools of test/fixtures/good.mjs. */
export function serverFiles(main = 'index.mjs', head = SHEBANG): Record<string, string> {
  const read = (name: string) => readFileSync(join(FIXTURES, name), 'utf8');
  return { [main]: `${head}${read('good.mjs')}`, 'mini.mjs': read('mini.mjs') };
}

export async function startRegistry(): Promise<Registry> {
  const packages = new Map<string, { tags: Record<string, string>; versions: Record<string, Published> }>();
  const tarballs = new Map<string, Buffer>();
  const asked: string[] = [];
  const spoiled = new Set<string>();
  const held = new Map<RegExp, Promise<void>>();
  let isCut = false;
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? '/').slice(1));
    asked.push(path);
    await Promise.all([...held].filter(([pattern]) => pattern.test(path)).map(([, until]) => until));
    const tarball = tarballs.get(path);
    const found = packages.get(path);
    if (isCut) request.socket.destroy();
    else if (tarball !== undefined) {
      const isSpoiled = [...spoiled].some((name) => path.startsWith(`${name}/`));
      response.end(isSpoiled ? gzipSync(Buffer.from('something else')) : tarball);
    } else if (found === undefined) response.writeHead(404).end('{"error":"Not found"}');
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(packumentOf(path, found)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const packumentOf = (
    name: string,
    { tags, versions }: { tags: object; versions: Record<string, Published> },
  ) => ({
    name,
    'dist-tags': tags,
    versions: Object.fromEntries(
      Object.values(versions).map((one) => {
        const path = tarballPath(one);
        const bytes = tarballs.get(path)!;
        const hash = (algorithm: string, form: 'base64' | 'hex') =>
          createHash(algorithm).update(bytes).digest(form);
        const integrity = `sha512-${hash('sha512', 'base64')}`;
        const dist = { tarball: url + path, integrity, shasum: hash('sha1', 'hex') };
        return [one.version, { ...manifestOf(one), dist }];
      }),
    ),
  });

  const cache = makeFolder();
  return {
    url,
    env: {
      npm_config_registry: url,
      npm_config_cache: cache,
      npm_config_fetch_retries: '0',
      // no settings of the machine that the tests run on
      npm_config_userconfig: join(cache, 'no.npmrc'),
    },
    asked,
    publish(...published) {
      for (const one of published) {
        const known = packages.get(one.name) ?? { tags: {}, versions: {} };
        known.versions[one.version] = one;
        for (const tag of one.tags ?? ['latest']) known.tags[tag] = one.version;
        packages.set(one.name, known);
        const files = { 'package.json': JSON.stringify(manifestOf(one)), ...(one.files ?? serverFiles()) };
        tarballs.set(tarballPath(one), gzipSync(tar(files)));
      }
    },
    cut: () => {
      isCut = true;
      server.closeAllConnections();
    },
    mend: () => {
      isCut = false;
    },
    spoil: (name) => void spoiled.add(name),
    hold(path) {
      let release = () => {};
      held.set(
        path,
        new Promise((resolve) => {
          release = () => {
            held.delete(path);
            resolve();
          };
        }),
      );
      atEnd(() => release());
      return release;
    },
  };
}

function tarballPath({ name, version }: Published): string {
  return `${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`;
}

function manifestOf({ name, version, bin = 'index.mjs', manifest }: Published): Record<string, unknown> {
  const hasScript = manifest?.scripts !== undefined && 'install' in (manifest.scripts as object);
  return { name, version, bin, ...manifest, ...(hasScript && { hasInstallScript: true }) };
}

/** A tar file (ustar) as npm packs it: everything is below `package/`. */
function tar(files: Record<string, string | Buffer>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text as string);
    const head = Buffer.alloc(512);
    head.write(`package/${name}`);
    head.write('0000644\0', 100);
    head.write(`${'0'.repeat(7)}\0`, 108);
    head.write(`${'0'.repeat(7)}\0`, 116);
    head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write(`${'0'.repeat(11)}\0`, 136);
    head.write(`${' '.repeat(8)}0`, 148);
    head.write('ustar\x0000', 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
