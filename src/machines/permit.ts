/**
 * The herd starts only a few servers at once: fifty cold `npx` in one moment starve the healthy ones. A permit is an
 * actor that lives as long as the start does. It says `permit.granted` when this keeper may go ahead, and being
 * stopped is how it is given back, so no ending, no order and no bug can keep one.
 */
import { type CallbackActorLogic, type EventObject, fromCallback } from 'xstate';

/**
 * What a start is for. `use`: a call, an order, a restart or a request for the lists of this one server. `discovery`:
 * the lists of many servers, for which no caller waits.
 */
export type StartPurpose = 'use' | 'discovery';

export type PermitReport = { type: 'permit.granted' };

export interface PermitInput {
  name: string;
  /** As in the settings of its server. */
  host?: unknown;
}

/** Callback logic without orders: it grants once, and gives back in its disposal. */
export type PermitLogic = CallbackActorLogic<EventObject, PermitInput>;

/** No limit: every start may go ahead. */
export const unlimited: PermitLogic = fromCallback<EventObject, PermitInput>(({ sendBack }) => {
  sendBack({ type: 'permit.granted' } satisfies PermitReport);
});
