import { lifecycleCommand } from './lifecycle.js';

export const verb = lifecycleCommand(
  'start',
  'Starts servers now, also those that are stopped, waiting or quarantined.',
  'github',
);
