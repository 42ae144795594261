import { readFileSync } from 'node:fs';
import {
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node';
import type { ClusterCredentials, ClusterSpec } from '../config/fields/spec.js';

/** A NATS server that says nothing for two of them is lost: 3 s. */
const PING_MS = 1000;
const PINGS = 2;
const CONNECT_MS = 5000;
const RECONNECT_MS = 300;

/** What the client library of NATS needs to know of the config. Files are read anew at each connection: they may change. */
export function natsOptions({ node, servers, credentials, tls }: ClusterSpec): ConnectionOptions {
  return {
    name: `toolherd ${node}`,
    servers: [...servers],
    ...authentication(credentials),
    ...(tls === undefined ? {} : { tls: tlsFiles(tls) }),
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: PINGS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_MS,
    reconnectJitterTLS: RECONNECT_MS,
    // a password that is wrong today may be right tomorrow, without a restart of this daemon
    ignoreAuthErrorAbort: true,
  };
}

function authentication(credentials: ClusterCredentials | undefined): ConnectionOptions {
  switch (credentials?.kind) {
    case 'creds':
      return { authenticator: credsAuthenticator(() => readFileSync(credentials.file)) };
    case 'nkey':
      return { authenticator: nkeyAuthenticator(() => readSeed(credentials.file)) };
    case 'user':
      return { user: credentials.user, pass: credentials.password };
    case 'token':
      return { token: credentials.token };
    default:
      return {};
  }
}

/** A file of `nk` ends with a newline. */
function readSeed(file: string): Uint8Array {
  return new TextEncoder().encode(readFileSync(file, 'utf8').trim());
}

function tlsFiles({ ca, cert, key }: NonNullable<ClusterSpec['tls']>): TlsOptions {
  return {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
}
