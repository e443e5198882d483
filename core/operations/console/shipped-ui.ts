import { createToken } from '../../injection.js';

export const SHIPPED_UI = createToken<ShippedUi>('shipped-ui');

/** The bundles of the surfaces that ship with the host: `builtin` in a descriptor. */
export interface ShippedUi {
  readonly shippedUiDigests: ReadonlySet<string>;
}
