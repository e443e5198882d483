import { DIGEST } from '../../descriptor/identifiers.js';
import { HostError } from '../../errors.js';
import { inject, injectable } from '../../injection.js';
import type { GenerationSource } from '../../modules/live-module.js';
import { authorize, authorizePermission } from '../authorization.js';
import { readHopByHopNames } from '../forward/headers-to-provider.js';
import { assertSignedBody } from '../forward/signed-body.js';
import { GENERATIONS } from '../injection-tokens.js';
import { enforceRateLimit } from '../rate-limit.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { MODULE_RECORDS, type ModuleRecords } from '../status/module-overview.js';
import {
  BRIDGE_OPERATIONS,
  type BridgeCall,
  type BridgeOperation,
  type BridgeOperations,
} from './bridge-operation.js';
import type { BridgePayload } from './bridge-payload.js';
import { type BridgeRequest, parseBridgeRequest } from './bridge-request.js';
import { findBridgeModule } from './find-bridge-module.js';
import { SHIPPED_UI, type ShippedUi } from './shipped-ui.js';

interface BridgeInput {
  /** From the path: the configured name or a `module_id`. */
  readonly module: string;
  /** From the path. */
  readonly permission: string;
  readonly body: Buffer;
}

const HEAD = Buffer.from('{"data":');
const TAIL = Buffer.from('}');

/** The console bridge: checks the request, then runs one of six operations. */
@injectable()
export class ConsoleBridge implements Handler<BridgeInput> {
  readonly #generations: GenerationSource;
  readonly #records: ModuleRecords;
  readonly #operations: BridgeOperations;
  readonly #shippedUi: ShippedUi;

  constructor(
    @inject(GENERATIONS) generations: GenerationSource,
    @inject(MODULE_RECORDS) records: ModuleRecords,
    @inject(BRIDGE_OPERATIONS) operations: BridgeOperations,
    @inject(SHIPPED_UI) shippedUi: ShippedUi,
  ) {
    this.#generations = generations;
    this.#records = records;
    this.#operations = operations;
    this.#shippedUi = shippedUi;
  }

  async execute(input: BridgeInput, request: CallerRequest): Promise<Reply> {
    const hopByHop = readHopByHopNames(request);
    const { body } = input;
    const bridgeRequest = parseBridgeRequest(body);
    request.facts.bytesIn = body.length;
    assertPermissionsMatch(bridgeRequest, input.permission);
    assertSignedBody(request, body);
    authorizePermission(request.actor, bridgeRequest.permission);
    const generation = this.#generations.current;
    const module = findBridgeModule(generation, this.#records, input.module);
    if (module === null) throw createUnknownModule();
    request.facts.module = module.name;
    const authorization = authorize(request.actor, {
      kind: 'grant',
      module,
      request: bridgeRequest,
      shippedUi: this.#shippedUi.shippedUiDigests,
    });
    if (module.client.rates !== null) enforceRateLimit(module.client.rates, request.actor);
    module.client.hold();
    try {
      const data = await this.#operate(bridgeRequest, {
        authorization,
        module,
        request,
        hopByHop,
        body,
        generation,
      });
      return Reply.ok(authorization, [HEAD, data, TAIL]);
    } finally {
      module.client.release();
    }
  }

  async #operate(
    { payload, permission }: BridgeRequest,
    context: Omit<BridgeCall, 'permission'>,
  ): Promise<Buffer> {
    // BridgeOperations pairs each payload with its operation; the compiler loses that in the lookup.
    const operation = this.#operations[payload.operation] as BridgeOperation<BridgePayload>;
    const call = { ...context, permission };
    if (!operation.isDeclared(payload, call)) throw createNotDeclared(payload);
    return operation.execute(payload, call);
  }
}

/** @throws HostError 400 if path and body disagree, and for a malformed digest. */
function assertPermissionsMatch(request: BridgeRequest, permission: string): void {
  if (request.permission !== permission) {
    throw new HostError('validation_failed', 'the permissions of path and body differ', {
      errors: [{ field: 'permission', reason: 'not the one of the path' }],
    });
  }
  const errors = (['moduleReleaseDigest', 'uiArtifactDigest'] as const)
    .filter((field) => !DIGEST.test(request[field]))
    .map((field) => ({ field, reason: 'expected sha256: and 64 lower-case hex digits' }));
  if (errors.length === 0) return;
  throw new HostError('validation_failed', 'a digest is malformed', { errors });
}

function createUnknownModule(): HostError {
  return new HostError('not_found', 'no live module has this name', {
    errors: [{ field: 'module', reason: 'not live' }],
  });
}

function createNotDeclared({ operation }: BridgePayload): HostError {
  return new HostError(
    'forbidden',
    'the module does not declare the operation for this permission',
    {
      errors: [
        { field: 'payload.operation', reason: `${operation} is not declared for the permission` },
      ],
      nextActions: ['check the names against the manifest of the module'],
    },
  );
}
