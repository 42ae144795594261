import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/ipc/clock.js';
import type { CallContext, McpResult, RequestParams } from '../../../src/ipc/fleet.js';
import { FrontDoor } from '../../../src/ipc/front-door.js';
import { HttpFace } from '../../../src/ipc/http/face.js';
import { serveFleet } from '../../../src/ipc/socket-server.js';
import { FakeFleet } from '../fake-fleet.js';
import { later, socketPlace } from '../support.js';
import type { Door } from './support.js';

/** A call that is in flight until the test says how it ends. */
export interface Held {
  params: RequestParams;
  context: CallContext;
  answer(result: McpResult): void;
}

/** A herd whose requests wait for the test. */
export class HoldingFleet extends FakeFleet {
  readonly held: Held[] = [];

  override async request(params: RequestParams, context: CallContext = {}): Promise<McpResult> {
    const { promise, resolve } = later<McpResult>();
    this.held.push({ params, context, answer: resolve });
    return promise;
  }
}

/** HTTP on a socket in this process, so that what is left of it can be counted. */
export async function serveHttp({ clock }: { clock?: Clock } = {}) {
  const fleet = new HoldingFleet();
  const server = serveFleet(fleet);
  const face = new HttpFace({ server, status: () => fleet.status(), ...(clock && { clock }) });
  const door = new FrontDoor({
    http: (socket) => face.accept(socket),
    lines: (socket) => void server.accept(socket),
  });
  const listening = createServer({ allowHalfOpen: true }, (socket) => door.enter(socket));
  const path = socketPlace();
  await new Promise<void>((resolve) => listening.listen(path, resolve));
  onTestFinished(async () => {
    listening.close();
    door.close();
    await face.close();
    await server.close(0);
  });
  const at: Door = { socketPath: path };
  return { fleet, server, face, door, path, at };
}
