import { lifecycleCommand } from './lifecycle.js';

export const verb = lifecycleCommand(
  'stop',
  'Stops servers. They stay stopped, also when called, until they are started.',
  'github memory',
);
