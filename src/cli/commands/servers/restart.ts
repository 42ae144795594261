import { lifecycleCommand } from './lifecycle.js';

export const verb = lifecycleCommand('restart', 'Stops and starts servers.', 'github');
