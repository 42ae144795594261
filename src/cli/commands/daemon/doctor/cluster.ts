import { connect } from 'node:net';
import type { ClusterSpec } from '../../../../config/fields/spec.js';
import type { FleetStatus } from '../../../../fleet/fleet.js';
import { isObject } from '../../../../shared/json.js';
import { error, type Finding, ok, warn } from './finding.js';

/** How long a NATS server may take to say what it is. */
const PATIENCE_MS = 3000;
const MOST_BYTES = 64 * 1024;
const DEFAULT_PORT = 4222;
const HOW_TO_ENABLE = 'start nats-server with -js, or add "jetstream {}" to its config';

/** Whether this node is in its cluster. A daemon that runs knows; else the NATS servers of the config are asked. */
export async function checkCluster(
  cluster: ClusterSpec | undefined,
  status: FleetStatus | undefined,
): Promise<Finding[]> {
  const known = status?.daemon.cluster ?? null;
  if (known?.state === 'connected') {
    const others = `${known.nodes} other ${known.nodes === 1 ? 'node' : 'nodes'}`;
    const about = `${known.node} is a node of ${known.name}, with ${others}`;
    if (known.draining) return [warn('cluster', `${about}; it is draining`, 'toolherd cluster undrain')];
    return [ok('cluster', about)];
  }
  // the daemon may have variables that this command lacks: then it alone knows where NATS is
  const asked = await Promise.all(
    (cluster?.servers ?? []).map(async (url) => ({ url, found: await infoOf(url) })),
  );
  const answers = asked.map(({ url, found }) => findingOf(url, found));
  if (known === null) return answers;
  const why = known.why ?? 'no reason is known';
  const fix = known.fix ?? 'see "toolherd cluster status"';
  return [error('cluster', `${known.node} is not connected: ${why}`, fix), ...answers];
}

type Info = Record<string, unknown> | string;

function findingOf(url: string, found: Info): Finding {
  if (typeof found === 'string') {
    const fix = "start it, or correct 'servers' of 'cluster' in the config";
    return error('nats', `${url}: no NATS server answers: ${found}`, fix);
  }
  const version = `nats-server ${String(found.version)}`;
  if (found.jetstream !== true)
    return error('nats', `${url}: ${version} runs without JetStream`, HOW_TO_ENABLE);
  return ok('nats', `${url}: ${version}, with JetStream`);
}

/** The first line that a NATS server says to every client, before any password: `INFO {…}`. A text: why there is none. */
function infoOf(address: string): Promise<Info> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port) || DEFAULT_PORT });
    const end = (answer: Info) => {
      socket.destroy();
      resolve(answer);
    };
    let text = '';
    socket.setEncoding('utf8').setTimeout(PATIENCE_MS, () => end('it does not answer in time'));
    socket.on('error', ({ message }) => end(message));
    socket.on('end', () => end('it closed the connection'));
    socket.on('data', (chunk: string) => {
      text += chunk;
      const line = /^INFO (.*?)\r?\n/.exec(text)?.[1];
      if (line !== undefined) end(readInfo(line));
      else if (text.includes('\n') || text.length > MOST_BYTES) end('what answers there is no NATS server');
    });
  });
}

function readInfo(line: string): Info {
  try {
    const info: unknown = JSON.parse(line);
    return isObject(info) ? info : 'what answers there is no NATS server';
  } catch {
    return 'what answers there is no NATS server';
  }
}
