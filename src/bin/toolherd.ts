import { loadBundle } from './load-bundle.js';

/** This file only loads the command's bundle, so that the bundle comes with its machine code. */
loadBundle('command');
