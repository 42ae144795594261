import { orderVerb } from './lifecycle.js';

export const verb = orderVerb(
  'start',
  'Starts servers now, also those that are stopped, waiting or quarantined.',
  'github',
);
