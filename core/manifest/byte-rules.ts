import type { RouteOperation } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';

/** The limits of bytes in one direction. */
export interface ByteRules {
  /** Media types; `null` for all. */
  readonly types: readonly string[] | null;
  /** The lower of the limits of the descriptor and the manifest. */
  readonly maxBytes: number;
  /** Whether JSON passes too, which is not bytes; the types are then listed. */
  readonly besideJson: boolean;
}

/** The rules for the bytes that a route receives and returns; `null` for JSON alone. */
export function byteRulesOf(
  { limits }: Pick<Descriptor, 'limits'>,
  operation: RouteOperation = {},
): { readonly bodyBytes: ByteRules | null; readonly responseBytes: ByteRules | null } {
  const { body, body_types, body_max_bytes, response, response_types, response_max_bytes } =
    operation;
  return {
    bodyBytes: createRules(body, body_types, body_max_bytes, limits.bytes.request),
    responseBytes: createRules(response, response_types, response_max_bytes, limits.bytes.response),
  };
}

function createRules(
  form: RouteOperation['body'],
  types: readonly string[] | undefined,
  lowered: number | undefined,
  maxBytes: number,
): ByteRules | null {
  const besideJson = form !== 'bytes';
  if (besideJson && types === undefined) return null;
  return { types: types ?? null, maxBytes: Math.min(maxBytes, lowered ?? maxBytes), besideJson };
}
