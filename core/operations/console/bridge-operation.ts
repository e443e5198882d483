import { createToken } from '../../injection.js';
import type { Generation, LiveModule } from '../../modules/live-module.js';
import type { Authorization } from '../authorization.js';
import type { CallerRequest } from '../request.js';
import type { BridgeOperationName, BridgePayload } from './bridge-payload.js';

export const BRIDGE_OPERATIONS = createToken<BridgeOperation>('bridge-operations');

/**
 * The context of a bridge operation besides its payload, after actor, module and grant have been
 * checked.
 */
export interface BridgeCall {
  /** Proves that the caller may use the permission of the module. */
  readonly authorization: Authorization;
  readonly module: LiveModule;
  /** The granted permission, as in the path and the body. */
  readonly permission: string;
  readonly request: CallerRequest;
  /** The names that the request declares hop-by-hop. */
  readonly hopByHop: ReadonlySet<string>;
  /** The validated body unchanged, for operations that forward its bytes. */
  readonly body: Buffer;
  /** The generation that the request began with, for operations over all modules. */
  readonly generation: Generation;
}

/** The part that a call of an entity or an action needs, however it was granted. */
export interface AdminCall
  extends Pick<BridgeCall, 'authorization' | 'module' | 'permission' | 'request' | 'hopByHop'> {
  /** Admits the call of an agent right before the provider is called; absent for others. */
  readonly admit?: () => Promise<void>;
}

/** One operation of the console bridge. The container builds it once, at start. */
export interface BridgeOperation<Payload = BridgePayload> {
  readonly name: BridgeOperationName;
  /**
   * Whether the module declares the operation for the permission; otherwise the response is 403.
   */
  isDeclared(payload: Payload, call: BridgeCall): boolean;
  /**
   * Returns the JSON bytes of `data`.
   * @throws HostError for errors of the operation.
   */
  execute(payload: Payload, call: BridgeCall): Promise<Buffer>;
}

export function toJsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
