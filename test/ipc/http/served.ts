import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { CallContext, McpResult, RequestParams } from '../../../src/fleet/fleet.js';
import { HttpServer } from '../../../src/ipc/http/http-server.js';
import { FleetServer } from '../../../src/ipc/server/fleet-server.js';
import { ProtocolDetection } from '../../../src/ipc/socket/protocol-detection.js';
import { ToolherdError } from '../../../src/shared/errors.js';
import { FakeFleet } from '../fake-fleet.js';
import { FakeClock, later, socketPlace } from '../support.js';
import type { Address } from './support.js';

/** A call that is in flight until the test ends it. */
export interface Held {
  params: RequestParams;
  context: CallContext;
  answer(result: McpResult): void;
}

const NOT_FOUND = { type: 'ServerNotFoundError', retryable: false, sent: false };

/** A herd whose requests wait for the test. */
export class HoldingFleet extends FakeFleet {
  readonly held: Held[] = [];

  override async status(servers?: readonly string[]) {
    if (servers?.includes('absent')) throw Object.assign(new ToolherdError("no server 'absent'"), NOT_FOUND);
    return super.status(servers);
  }

  override async tools(server?: string, refresh?: boolean) {
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    const { tools, missing } = await super.tools(server, refresh);
    const input_schema = { type: 'object', properties: { region } };
    return { tools: tools.map((tool) => ({ ...tool, input_schema })), missing };
  }

  override async request(params: RequestParams, context: CallContext = {}): Promise<McpResult> {
    const { promise, resolve } = later<McpResult>();
    this.held.push({ params, context, answer: resolve });
    return promise;
  }
}

/** HTTP on a socket in this process, so that what is left of it can be counted. Its time stands still. */
export async function serveHttp() {
  const clock = new FakeClock();
  const fleet = new HoldingFleet();
  const server = new FleetServer(fleet);
  const httpServer = new HttpServer({ server, status: () => fleet.status(), clock });
  const detection = new ProtocolDetection({
    http: (socket) => httpServer.accept(socket),
    lines: (socket) => void server.accept(socket),
  });
  const listening = createServer({ allowHalfOpen: true }, (socket) => detection.accept(socket));
  const path = socketPlace();
  await new Promise<void>((resolve) => listening.listen(path, resolve));
  onTestFinished(async () => {
    listening.close();
    detection.close();
    const closed = httpServer.close();
    clock.advance(1000);
    await closed;
    await server.close(0);
  });
  const at: Address = { socketPath: path };
  return { fleet, server, httpServer, detection, path, at, clock };
}
