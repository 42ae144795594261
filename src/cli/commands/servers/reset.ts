import { orderVerb } from './lifecycle.js';

export const verb = orderVerb(
  'reset',
  'Forgets the failures of servers, and lets quarantined ones try again.',
  'github',
);
