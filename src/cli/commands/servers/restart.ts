import { orderVerb } from './lifecycle.js';

export const verb = orderVerb('restart', 'Stops and starts servers.', 'github');
