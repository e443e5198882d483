import { allOf, injectable } from '../../injection.js';
import type { GenerationSource, WaitingSource } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { reserveReplyMemory, translateOverload } from '../forward/overload.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { runSteps } from '../step.js';
import { BridgeAttempt, type BridgeContext, type BridgeInput } from './bridge-attempt.js';
import { BRIDGE_OPERATIONS, type BridgeOperation } from './bridge-operation.js';
import { PAYLOADS } from './bridge-payload.js';
import { BRIDGE_STEPS } from './bridge-steps.js';
import type { NamedRecords } from './find-bridge-module.js';
import { SHIPPED_UI, type ShippedUi } from './shipped-ui.js';

const HEAD = Buffer.from('{"data":');
const TAIL = Buffer.from('}');

/** The console bridge: checks the request, then runs one of six operations. */
@injectable(ModuleRegistry, allOf(BRIDGE_OPERATIONS), SHIPPED_UI)
export class ConsoleBridge implements Handler<BridgeInput> {
  readonly #context: BridgeContext;

  constructor(
    registry: GenerationSource & WaitingSource & NamedRecords,
    operations: readonly BridgeOperation[],
    shippedUi: ShippedUi,
  ) {
    const byName = new Map(operations.map((operation) => [operation.name as string, operation]));
    const missing = Object.keys(PAYLOADS).find((name) => !byName.has(name));
    if (missing !== undefined) throw new Error(`no operation handles ${missing}`);
    this.#context = {
      generations: registry,
      records: registry,
      operations: byName,
      get shippedUi() {
        return shippedUi.shippedUiDigests;
      },
    };
  }

  async execute(input: BridgeInput, request: CallerRequest): Promise<Reply> {
    const attempt = new BridgeAttempt(input, request, this.#context);
    try {
      await runSteps(BRIDGE_STEPS, attempt);
      const reply = Reply.ok(attempt.authorization, [HEAD, attempt.data, TAIL]);
      reserveReplyMemory(request, reply.length);
      return reply;
    } catch (error) {
      throw translateOverload(error, [{ field: 'module', reason: input.module }]);
    } finally {
      attempt.close();
    }
  }
}
