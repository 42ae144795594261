export { chooseOption, entryOf, installOptions } from './choose-option.js';
export { RegistryNotFoundError, RegistryRefusedError } from './errors.js';
export type { Requirement } from './expand-template.js';
export type { HttpOptions } from './get-with-retries.js';
export { type InstallOption, isInstallable, type UnsupportedOption } from './install-option.js';
export { type Found, type FoundOne, LATEST, openRegistry, type Registry } from './registry.js';
export { type RegistryServer, shortNameOf } from './server.js';
