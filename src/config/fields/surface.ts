import { SURFACE_MODES, type Surface } from '../../shared/mcp/surface.js';
import type { DataMap } from '../parse/document.js';
import { choice, names, optional, whole } from './shapes.js';

const MOST = 1_000_000_000;

/** What `surface` of the daemon and of a profile have in common. */
export const surfaceShapes = () => ({
  mode: optional(choice(...SURFACE_MODES)),
  above_tokens: optional(whole(0, MOST)),
  always: optional(names()),
  result_limit: optional(whole(0, MOST)),
});

/** What a `surface` of a config says. The shapes were checked. */
export function readSurface(given: DataMap): Partial<Surface> {
  const { mode, above_tokens: aboveTokens, always, result_limit: resultLimit } = given;
  const said = Object.entries({ mode, aboveTokens, always, resultLimit }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return Object.fromEntries(said) as Partial<Surface>;
}
