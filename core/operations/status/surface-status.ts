import { createToken } from '../../injection.js';

export const SURFACES = createToken<SurfaceStatuses>('surfaces');

/**
 * - `open`: it serves
 * - `failed`: it could not be loaded or opened; see `reason`
 * - `off`: the setting does not switch it on
 */
type SurfaceState = 'open' | 'failed' | 'off';

/** A surface as operators see it. */
export interface SurfaceStatus {
  readonly name: string;
  /** `null` where its code has not been loaded. */
  readonly plugin: string | null;
  readonly prefix: string | null;
  readonly state: SurfaceState;
  readonly reason: string | null;
}

export interface SurfaceStatuses {
  /** Lists them by name. */
  list(): readonly SurfaceStatus[];
}
