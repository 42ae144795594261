import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { AuthorizeReport, Order, ServerStatus } from '../../fleet/fleet.js';
import { refreshSoon, request } from '../live/store.js';
import { Button } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { act, say } from '../parts/toast.js';
import { plural } from '../text/format.js';

/** What the page says after an order. */
const DONE: Readonly<Record<Order, string>> = {
  start: 'is being started',
  stop: 'is being stopped, and stays stopped until you start it',
  restart: 'is being restarted',
  reset: 'has no failures any more, and is tried again',
};

const TITLES: Readonly<Record<Order, string>> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  reset: 'Reset',
};

/** Which orders make sense now. */
export function ordersFor({ detail, state }: Pick<ServerStatus, 'detail' | 'state'>): Order[] {
  switch (detail) {
    case 'running':
      return ['restart', 'stop'];
    case 'waiting':
      return ['start', 'reset', 'stop'];
    case 'quarantined':
      return ['reset', 'stop'];
    case 'idle':
      return state === 'error' ? ['start', 'reset', 'stop'] : ['start', 'stop'];
    case 'stopped':
      return ['start'];
    default:
      return [];
  }
}

export async function order(server: ServerStatus, what: Order, onDone: () => void): Promise<void> {
  const { name, in_flight } = server;
  if (what === 'stop' || what === 'restart') {
    const calls = in_flight === 0 ? '' : ` ${plural(in_flight, 'call')} in flight will end.`;
    const follows =
      what === 'stop'
        ? 'It stays stopped, also when it is called, until you start it.'
        : 'It is started again at once.';
    const isYes = await confirm({
      title: `${TITLES[what]} ${name}?`,
      body: `${follows}${calls}`,
      action: TITLES[what],
      tone: what === 'stop' ? 'danger' : 'primary',
    });
    if (!isYes) return;
  }
  await act(
    `${TITLES[what]} ${name}`,
    () => request(`fleet/${what}`, { servers: [name] }),
    () => `${name} ${DONE[what]}`,
  );
  refreshSoon();
  onDone();
}

export function OrderButtons({ server, onDone }: { server: ServerStatus; onDone(): void }): VNode[] {
  return ordersFor(server).map(
    (what, index) => html`
      <${Button} key=${what} label=${`${TITLES[what]} ${server.name}`} tone=${index === 0 ? 'primary' : 'plain'}
        onClick=${() => order(server, what, onDone)}>${TITLES[what]}<//>`,
  );
}

/** Begins the authorisation at a remote server. The address comes from that server: a click warns before it opens. */
export function AuthorizeButton({ name }: { name: string }): VNode {
  const begin = async () => {
    const report = await act(
      `Authorise ${name}`,
      () => request<AuthorizeReport>('fleet/authorize', { server: name }),
      ({ state }) =>
        state === 'authorized' ? `${name} is authorised` : `${name} waits for you at its address`,
    );
    const url = report?.authorization_url;
    if (url == null) return;
    if (!/^https?:\/\//i.test(url)) {
      say(`${name} gave an address that a browser cannot open`, 'bad', url);
      return;
    }
    const isYes = await confirm({
      title: `Open the page of ${name}?`,
      body: html`<p>There you allow toolherd to use it. The address is from the server:</p><p class="mono">${url}</p>`,
      action: 'Open',
    });
    if (isYes) open(url, '_blank', 'noopener,noreferrer');
  };
  return html`<${Button} tone="primary" label=${`Authorise ${name}`} onClick=${begin}>Authorise<//>`;
}
