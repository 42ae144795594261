export type { Asking } from './ask.js';
export { chooseOffer, offersOf } from './choose-offer.js';
export { entryOf } from './entry.js';
export { RegistryNotFoundError, RegistryRefusedError } from './errors.js';
export type { Need } from './fill-in.js';
export { isOffer, type Offer, type Refused } from './offer.js';
export { type Found, type FoundOne, LATEST, openRegistry, type Registry } from './registry.js';
export { type RegistryServer, shortNameOf } from './server.js';
