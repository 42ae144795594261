import { loadBundle } from './load-bundle.js';

/** All it does is to load the command: what is loaded like that comes compiled. */
loadBundle('command');
