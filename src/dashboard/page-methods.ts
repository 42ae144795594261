import { isAbsolute } from 'node:path';
import type { Fleet } from '../fleet/fleet.js';
import { addedJson, addServer } from '../install/add-server.js';
import { globalFile } from '../install/config-target.js';
import type { InstallContext } from '../install/context.js';
import { findServer, noteOffline, parseName, registryOf } from '../install/find-server.js';
import { searchJson, showJson } from '../install/registry-format.js';
import { type Params, wrong } from '../ipc/jsonrpc/params.js';
import { describeConfig } from './describe-config.js';
import { allowFile, revokeFile } from './trust-files.js';

/** What the page does to files of the user, where the command would do it without the daemon. */
export interface PageHerd extends Omit<InstallContext, 'output' | 'globals' | 'cwd'> {
  /** The global config. */
  file: string;
  fleet: Pick<Fleet, 'reload' | 'status'>;
  /** Agent files that clients named and the user has not allowed. */
  refusedFiles(): readonly string[];
}

/** One request of the page. */
export interface PageRequest {
  herd: PageHerd;
  /** Its notes are part of the answer, as the command prints them. */
  context: InstallContext;
  params: Params;
}

export type PageMethod = (request: PageRequest) => unknown;

const REGISTRY_LIMIT = 20;

/** The methods that only a page has. docs/PROTOCOL.md lists the same. */
export const PAGE_METHODS: Readonly<Record<string, PageMethod>> = {
  'page/config': ({ herd, context }) => describeConfig(herd, context),
  'page/reload': ({ herd, params }) => herd.fleet.reload(params.optionalFlag('dry_run')),
  'page/allow': ({ herd, context, params }) =>
    allowFile(herd, context, { file: path(params), digest: params.text('digest') }),
  'page/revoke': ({ herd, context, params }) => revokeFile(herd, context, path(params)),
  'page/registry_search': async ({ context, params }) => {
    const limit = params.optionalWhole('limit') ?? REGISTRY_LIMIT;
    const found = await registryOf(context).search(
      params.optionalText('query') ?? '',
      limit,
      params.optionalText('cursor'),
    );
    noteOffline(context, found);
    return searchJson(found);
  },
  'page/registry_show': async ({ context, params }) => {
    const { name, version } = parseName(params.text('name'));
    const found = await findServer(registryOf(context), name, version);
    noteOffline(context, found);
    return showJson(found);
  },
  'page/add': async ({ herd, context, params }) => {
    const source = {
      name: params.text('name'),
      command: params.optionalTexts('command'),
      url: params.optionalText('url'),
      transport: params.optionalText('transport'),
      env: params.optionalTexts('env') ?? [],
      headers: params.optionalTexts('headers') ?? [],
      cwd: undefined,
      shortName: params.optionalText('short_name'),
    };
    const added = await addServer(context, globalFile(context), source, {
      dryRun: params.optionalFlag('dry_run') ?? false,
      allowCommand: params.optionalFlag('allow_command') ?? false,
      tell: async () => void (await herd.fleet.reload()),
    });
    return addedJson(added);
  },
};

function path(params: Params): string {
  const file = params.text('file');
  if (!isAbsolute(file)) throw wrong("'file' must be a full path");
  return file;
}
