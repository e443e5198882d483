import { createToken } from '../../injection.js';
import type { Generation, LiveModule } from '../../modules/live-module.js';
import type { Authorization } from '../authorization.js';
import type { CallerRequest } from '../request.js';
import type { BridgeOperationName, BridgePayloads } from './bridge-payload.js';

export type BridgeOperations = {
  readonly [Name in BridgeOperationName]: BridgeOperation<BridgePayloads[Name]>;
};

export const BRIDGE_OPERATIONS = createToken<BridgeOperations>('bridge-operations');

/** What every operation of the bridge gets beside its payload; the actor, the module and the grant are judged. */
export interface BridgeCall {
  /** That the caller may use the permission of the module. */
  readonly authorization: Authorization;
  readonly module: LiveModule;
  /** The permission that was granted, as it stands in path and body. */
  readonly permission: string;
  readonly request: CallerRequest;
  /** The body as it came, known to be a good request: for operations that hand on bytes of it. */
  readonly body: Buffer;
  /** The generation that the request began with: for operations that look at all modules. */
  readonly generation: Generation;
}

/** One operation of the console bridge: resolved through the container once, at boot. */
export interface BridgeOperation<Payload> {
  /** Whether the module declares this for the permission (contract 4, "declared when"); if not, 403. */
  isDeclared(payload: Payload, call: BridgeCall): boolean;
  /**
   * The JSON bytes of `data`.
   * @throws HostError for the operation's own refusals.
   */
  execute(payload: Payload, call: BridgeCall): Promise<Buffer>;
}

export function toJsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
