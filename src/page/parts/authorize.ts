import { html } from 'htm/preact';
import type { AuthorizeReport } from '../../fleet/fleet.js';
import { request } from '../live/store.js';
import { confirm } from './dialog.js';
import { say, sayError } from './toast.js';

/** The address comes from the server, so a person sees it before the browser opens it. */
export async function authorize(name: string): Promise<void> {
  try {
    const { authorization_url: url } = await request<AuthorizeReport>('fleet/authorize', { server: name });
    if (url === null) {
      say(`${name} is authorised.`);
      return;
    }
    if (!/^https?:\/\//.test(url)) throw new Error('the server gave an address that is not http or https');
    const isYes = await confirm({
      title: `Authorise ${name}?`,
      body: html`<p>The browser opens this page of the server. When you have agreed there, toolherd connects.</p><p
        class="mono">${url}</p>`,
      action: 'Open the page',
    });
    if (isYes) window.open(url, '_blank', 'noopener,noreferrer');
  } catch (error) {
    sayError(error, `Authorise ${name}`);
  }
}
