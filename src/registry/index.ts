export { chooseOffer, offersOf } from './choose-option.js';
export { entryOf } from './entry.js';
export { RegistryNotFoundError, RegistryRefusedError } from './errors.js';
export type { Need } from './expand-template.js';
export type { Asking } from './get-with-retries.js';
export { isOffer, type Offer, type Refused } from './install-option.js';
export { type Found, type FoundOne, LATEST, openRegistry, type Registry } from './registry.js';
export { type RegistryServer, shortNameOf } from './server.js';
