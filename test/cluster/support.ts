import type { Duplex } from 'node:stream';
import type { NatsConnection as Nats } from '@nats-io/transport-node';
import { NatsConnection, readMessage } from '../../src/cluster/nats-connection.js';
import { Streams } from '../../src/cluster/streams.js';
import { type NodeAddress, randomToken, Subjects } from '../../src/cluster/subjects.js';
import { TransportError } from '../../src/link/failures/transport-failure.js';
import { systemClock } from '../../src/shared/clock.js';
import { atEnd } from '../support/share.js';
import { until } from '../support/until.js';
import { clusterSpec } from './cluster-spec.js';

export interface End {
  streams: Streams;
  connection: NatsConnection;
  address: NodeAddress;
  client(): Nats;
  /** Connections that other nodes have opened. */
  accepted: { stream: Duplex; from: string }[];
  refusal: string | undefined;
  /** It is connected, and neither hears nor says anything. */
  isDeaf: boolean;
  lost: string[];
}

/** A node with streams and nothing else. `accept`: what it does with connections. */
export async function endOf(
  url: string,
  node: string,
  accept: (stream: Duplex) => void = () => {},
): Promise<End> {
  const address = { node, instance: randomToken() };
  const subjects = new Subjects('test');
  let client: Nats | undefined;
  const end: End = {
    address,
    accepted: [],
    refusal: undefined,
    isDeaf: false,
    lost: [],
    client: () => client!,
    connection: new NatsConnection(clusterSpec(url, node), systemClock, {
      up: (nats) => {
        if (client !== nats)
          nats.subscribe(streams.subject, {
            callback: (_, message) => {
              if (!end.isDeaf) streams.receive(readMessage(message));
            },
          });
        client = nats;
        streams.up();
      },
      denied: () => undefined,
      fault: (text) => {
        throw new Error(text);
      },
      down: (why) => {
        end.lost.push(why);
        streams.down(why);
      },
    }),
    streams: undefined as unknown as Streams,
  };
  const { connection } = end;
  const streams = new Streams({
    self: address,
    subjects,
    clock: systemClock,
    publish: (...message) => {
      if (!end.isDeaf) connection.publish(...message);
    },
    maxPayload: () => connection.maxPayload,
    away: (name, why) => new TransportError({ kind: 'node', node: name, why }),
    accept: (stream, from) => {
      end.accepted.push({ stream, from });
      accept(stream);
    },
    refusal: () => end.refusal,
  });
  end.streams = streams;
  atEnd(async () => {
    streams.close();
    await connection.close();
  });
  await until(() => connection.isUp);
  await connection.flush();
  return end;
}
