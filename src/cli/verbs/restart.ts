import { orderVerb } from '../order.js';

export const verb = orderVerb('restart', 'Stops and starts servers.', 'github');
