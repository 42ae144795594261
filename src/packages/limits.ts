/** Longer than any download should take; a server that waits for it has its own start_timeout afterwards. */
export const INSTALL_LIMIT_MS = 10 * 60 * 1000;
