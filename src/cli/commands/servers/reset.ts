import { lifecycleCommand } from './lifecycle.js';

export const verb = lifecycleCommand(
  'reset',
  'Forgets the failures of servers, and lets quarantined ones try again.',
  'github',
);
