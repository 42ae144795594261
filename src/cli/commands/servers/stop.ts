import { orderVerb } from './lifecycle.js';

export const verb = orderVerb(
  'stop',
  'Stops servers. They stay stopped, also when called, until they are started.',
  'github memory',
);
