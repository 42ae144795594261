import { loadBundle } from './cli/load-bundle.js';

/** All it does is to load the daemon's program: what is loaded like that comes compiled. */
loadBundle('program');
