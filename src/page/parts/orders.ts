import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Order, ServerStatus } from '../../fleet/fleet.js';
import { refreshSoon, request } from '../live/store.js';
import { consequenceOf, ORDER_WORDS, ordersFor, reportOf } from '../text/orders.js';
import { Button } from './button.js';
import { confirm } from './dialog.js';
import { say, sayError } from './toast.js';

/** Asks, gives the order, waits until it is carried out, and says what it did. */
export async function giveOrder(order: Order, server: ServerStatus): Promise<void> {
  const { name } = server;
  const word = ORDER_WORDS[order];
  const isYes = await confirm({
    title: `${word} ${name}?`,
    body: consequenceOf(order, server),
    action: word,
    tone: order === 'stop' || order === 'restart' ? 'danger' : 'primary',
  });
  if (!isYes) return;
  try {
    const answer = await request<{ servers: ServerStatus[] }>(`fleet/${order}`, {
      servers: [name],
      wait: true,
    });
    const after = answer.servers.find((one) => one.name === name);
    const isGood = order === 'stop' || (after?.detail === 'running' && after.state === 'connected');
    const why = isGood ? undefined : after?.last_error?.message;
    say(reportOf(order, name, answer.servers), isGood ? 'good' : 'warn', why);
  } catch (error) {
    sayError(error, `${word} ${name}`);
  }
  refreshSoon();
}

export interface OrderButtonsProps {
  server: ServerStatus;
  /** How many at most; the rest is on the page of the server. */
  most?: number;
  size?: 'small' | 'normal';
  tone?: 'plain' | 'quiet';
}

/** The orders that change something for this server now. */
export function OrderButtons({ server, most = 4, size = 'small', tone = 'plain' }: OrderButtonsProps): VNode {
  return html`${ordersFor(server)
    .slice(0, most)
    .map(
      (order) => html`
        <${Button} key=${order} size=${size} tone=${tone} label=${`${ORDER_WORDS[order]} ${server.name}`}
          onClick=${() => giveOrder(order, server)}>${ORDER_WORDS[order]}<//>`,
    )}`;
}
