import * as z from 'zod/mini';
import { isNodeName, NODE_NAME } from '../../shared/text/node-name.js';
import type { Default } from './defaults.js';
import { choice, map, matching, names, optional, text } from './shapes.js';

interface ClusterField {
  shape: z.ZodMiniType;
  about: string;
  default: Default;
}

const NODE_PHRASE = 'at most 32 letters, digits, _ and -, beginning with a letter or digit';

/** As the file has it: with variables, which are filled in later. */
const nodeName = () => matching(new RegExp(`${NODE_NAME.source}|\\$\\{`), NODE_PHRASE);

export const BAD_NODE_NAME = `must be ${NODE_PHRASE}`;

/** `desk` of `desk.example.com`. Undefined where nothing of it may be in a name. */
export function nodeNameOf(hostName: string): string | undefined {
  const [label = ''] = hostName.split('.', 1);
  const name = label
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[_-]+/, '')
    .slice(0, 32);
  return isNodeName(name) ? name : undefined;
}

const serverUrls = () =>
  z
    .array(matching(/^[^\s\u0000-\u001f]+$/, 'a url such as nats://HOST:4222'), {
      error: 'a list of urls such as nats://HOST:4222',
    })
    .check(z.minLength(1, { error: 'a list with at least one url such as nats://HOST:4222' }));

/** What proves to NATS who this node is, in place of the path of a .creds file. */
const CREDENTIALS = {
  user: optional(text()),
  password: optional(text()),
  token: optional(text()),
  nkey: optional(text()),
};

export function credentialsShape(): z.ZodMiniType {
  return map(CREDENTIALS);
}

const CREDENTIALS_PHRASE = 'the path of a .creds file, or {user, password}, {token}, {nkey: FILE}';

/** Every key of `cluster`, with its description and default for editors and docs. */
export const CLUSTER_FIELDS = {
  engine: {
    shape: choice('nats'),
    about: 'What connects the nodes: nats.',
    default: 'nats',
  },
  servers: {
    shape: serverUrls(),
    about:
      'NATS servers, as nats://HOST:PORT or tls://HOST:PORT. The node uses one of them, and another one where that is lost. JetStream must be on.',
    default: 'required',
  },
  name: {
    shape: nodeName(),
    about:
      'Name of the cluster. Subjects and the bucket of NATS begin with it, so clusters of different names can share a NATS server.',
    default: 'toolherd',
  },
  node: {
    shape: nodeName(),
    about: 'Name of this node. No other node of the cluster may have it.',
    default: { value: '', shown: 'the name of the host' },
  },
  share: {
    shape: names(),
    about:
      'Servers of this config that other nodes may use, as globs of their names. Entries with cluster: true are shared too.',
    default: [],
  },
  use: {
    shape: names(),
    about: 'Servers of other nodes that this node uses, as globs of their names.',
    default: ['*'],
  },
  credentials: {
    shape: z.union([text(CREDENTIALS_PHRASE), credentialsShape()], { error: CREDENTIALS_PHRASE }),
    about:
      'What proves to NATS who this node is: the path of a .creds file, or {user, password}, {token}, {nkey: FILE}. Paths begin at the folder of the file. Values may hold ${VAR}.',
    default: 'none',
  },
  tls: {
    shape: map({ ca: optional(text()), cert: optional(text()), key: optional(text()) }),
    about:
      'Encrypts the connection: {} trusts the authorities that Node knows. ca: file of your own authority. cert and key: files of a certificate of this node.',
    default: { value: '', shown: 'as the NATS server asks for' },
  },
} as const satisfies Record<string, ClusterField>;

/** `cluster` as a strict map; null counts as absent, except for `servers`. */
export function clusterShape(): z.ZodMiniType {
  const shapes = Object.entries(CLUSTER_FIELDS).map(([key, { shape }]) => [
    key,
    key === 'servers' ? shape : optional(z.nullable(shape)),
  ]);
  return map(Object.fromEntries(shapes));
}
