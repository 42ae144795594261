import type { RemoteSpec, ServerSpec } from '../config/fields/spec.js';
import type { AuthorizeParams, AuthorizeReport, LogoutReport } from '../fleet/fleet.js';
import type { Authorizations } from '../link/auth/authorizations.js';
import { recordKey } from '../link/auth/record.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';

/** The verbs of the fleet about authorisations. */
export function authorizing(herd: HerdView, authorizations: Authorizations) {
  return {
    async authorize({ server, wait, client_id, client_secret }: AuthorizeParams): Promise<AuthorizeReport> {
      const given = client_id === undefined ? undefined : { id: client_id, secret: client_secret };
      const progress = await authorizations.authorize(herd.specOf(server), given);
      if (progress.state === 'waiting' && wait !== true) {
        return { server, state: 'waiting', authorization_url: progress.url };
      }
      if (progress.state === 'waiting') await progress.done;
      if (wait === true) await herd.order('start', { servers: [server] }, true);
      return { server, state: 'authorized', authorization_url: null };
    },

    async logout(server: string): Promise<LogoutReport> {
      const forgotten = authorizations.forget(herd.specOf(server));
      const isRunning = herd.status([server])[0]?.detail === 'running';
      // an open session keeps using its token
      if (forgotten && isRunning) await herd.order('restart', { servers: [server] });
      return { server, forgotten };
    },
  };
}

/** After an authorisation: resets and starts the server in every view that has it. */
export function restartAuthorized(views: readonly HerdView[], granted: RemoteSpec): void {
  const selection = { servers: [granted.name] };
  const isGranted = (spec: ServerSpec) => 'url' in spec && recordKey(spec) === recordKey(granted);
  for (const view of views.filter(({ specs }) => specs.some(isGranted))) {
    // it fails only where the server was removed meanwhile, or the herd is shutting down
    view
      .order('reset', selection)
      .then(() => view.order('start', selection))
      .catch(() => undefined);
  }
}
