import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ClientOptions } from 'ws';
import { Page } from '../../src/daemon/page.js';
import { HttpServer } from '../../src/ipc/http/http-server.js';
import { FleetServer } from '../../src/ipc/server/fleet-server.js';
import { findPaths } from '../../src/shared/files/paths.js';
import { FakeFleet } from '../ipc/fake-fleet.js';
import { type Answer, ask } from '../ipc/http/support.js';
import { FakeClock } from '../ipc/support.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';
import { connectPage, openSocket, type PageClient, type Visitor, visitLink } from './visitor.js';

export interface ServeOptions {
  /** The address of `daemon.http`. */
  configured?: string;
  /** Of the environment. */
  variables?: Record<string, string>;
  /** In place of the system's answer. */
  userOf?: () => number | undefined;
}

/** The page of a herd in this process. Its time stands still. */
export async function servePage({ configured, variables = {}, userOf }: ServeOptions = {}) {
  const folder = makeFolder();
  const files = join(folder, 'page');
  mkdirSync(files);
  writeFileSync(join(files, 'index.html'), '<!doctype html>');
  writeFileSync(join(files, 'app.js'), 'plain');
  writeFileSync(join(files, 'app.js.br'), 'as brotli');
  writeFileSync(join(files, 'app.js.gz'), 'as gzip');
  writeFileSync(join(files, 'notes.txt'), 'no file of the page');
  writeFileSync(join(folder, 'secret.html'), 'outside of the page');
  const clock = new FakeClock();
  const fleet = new FakeFleet();
  const logged: string[] = [];
  const server = new FleetServer(fleet);
  const httpServer = new HttpServer({
    ...{ server, clock },
    status: () => fleet.status(),
    page: () => page.requests,
  });
  const environment = { TOOLHERD_HOME: folder, HOME: folder, ...variables };
  const page = new Page({
    ...{ server, httpServer, clock, folder: files },
    log: {
      info: (_fields, text) => void logged.push(text),
      error: (_fields, text) => void logged.push(text),
    },
    limitConnections: (accept) => accept,
    ...(userOf && { userOf }),
    configured: () => configured,
    herd: {
      file: join(folder, 'config.yaml'),
      paths: findPaths(environment, folder),
      ...{ environment, userHome: folder, fleet },
      refusedFiles: () => refused,
    },
  });
  const refused: string[] = [];
  onTestFinished(async () => {
    let isClosed = false;
    void page.close().then(() => {
      isClosed = true;
    });
    await until(() => {
      clock.advance(1000);
      return isClosed;
    });
    const ended = httpServer.close();
    clock.advance(1000);
    await ended;
    await server.close(0);
  });
  const { url } = await page.link();
  const host = new URL(url).host;
  const address = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const own = { Host: host };

  /** One request with the right Host, unless `headers` say otherwise. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    ask(address, path, { method, headers: { ...own, ...headers } });

  const link = async () => {
    const { url, expires_at } = await page.link();
    return { path: url.slice(url.indexOf('/ui/')), expires_at };
  };

  const visit = async (): Promise<Visitor> => visitLink((await page.link()).url);

  /** Opens the WebSocket of a page. Resolves with the status where the upgrade was refused. */
  const open = (path: string, headers: Record<string, string>, options?: ClientOptions) =>
    openSocket(`http://${host}${path}`, { ...own, ...headers }, options);

  const connect = async (visitor?: Visitor): Promise<PageClient> => connectPage(visitor ?? (await visit()));

  return {
    ...{ folder, clock, fleet, server, page, logged, host, address, refused },
    get,
    link,
    visit,
    open,
    connect,
  };
}
