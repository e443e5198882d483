import { createToken } from '../../injection.js';

export const SURFACES = createToken<SurfaceStatuses>('surfaces');

/**
 * - `open`: it serves
 * - `failed`: it could not be loaded or opened; see `reason`
 * - `off`: the setting does not enable it
 */
type SurfaceState = 'open' | 'failed' | 'off';

/** A surface for operators. */
export interface SurfaceStatus {
  readonly name: string;
  /** `null` if its code has not been loaded. */
  readonly plugin: string | null;
  readonly prefix: string | null;
  readonly state: SurfaceState;
  readonly reason: string | null;
}

export interface SurfaceStatuses {
  /** Lists surfaces by name. */
  list(): readonly SurfaceStatus[];
}
