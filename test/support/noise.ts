/**
 * What a loaded machine may add to a figure before it counts as missed. Where nothing else runs, as in
 * `npm run faults`, the figures are looked at more closely.
 */
export const NOISE_MS = process.env.TOOLHERD_LONG ? 1500 : 8000;
