import type { Descriptor } from '../../descriptor/descriptor.js';
import type {
  Generation,
  GenerationSource,
  LiveModule,
  WaitingModule,
  WaitingSource,
} from '../../modules/live-module.js';
import { Authorization } from '../authorization.js';
import { readProblemForm } from '../forward/route-call.js';
import type { CallerRequest, RequestFacts } from '../request.js';
import type { BridgeCall, BridgeOperation } from './bridge-operation.js';
import type { BridgeRequest } from './bridge-request.js';
import { findBridgeModule, type NamedRecords } from './find-bridge-module.js';

/** A request to the console bridge, as its path names it. */
export interface BridgeInput {
  /** The configured name or a `module_id`. */
  readonly module: string;
  readonly permission: string;
  /** @throws HostError 400, 408; RejectedCall; ClientClosed. */
  readonly readBody: () => Promise<Buffer>;
}

/** The context of the console bridge besides the request. */
export interface BridgeContext {
  readonly generations: GenerationSource & WaitingSource;
  readonly records: NamedRecords;
  readonly operations: ReadonlyMap<string, BridgeOperation>;
  /** The digests of `builtin`. */
  readonly shippedUi: ReadonlySet<string>;
}

const NO_BYTES = Buffer.alloc(0);
const NO_NAMES: ReadonlySet<string> = new Set();

/** A request in the steps of the console bridge, which set its members. */
export class BridgeAttempt {
  readonly input: BridgeInput;
  readonly request: CallerRequest;
  readonly facts: RequestFacts;
  readonly authorization = Authorization.forBridge();
  /** The names that the request declares hop-by-hop. */
  hopByHop = NO_NAMES;
  body: Buffer = NO_BYTES;
  /** The JSON bytes of `data`. */
  data: Buffer = NO_BYTES;
  /** It stays open until the request is closed. */
  readonly module: LiveModule | null;
  readonly #generation: Generation;
  readonly #context: BridgeContext;
  #sent: BridgeRequest | null = null;

  constructor(input: BridgeInput, request: CallerRequest, context: BridgeContext) {
    this.input = input;
    this.request = request;
    this.facts = request.facts;
    this.#context = context;
    this.#generation = context.generations.current;
    this.module = findBridgeModule(this.#generation, context.records, input.module);
    this.module?.client.hold();
    this.facts.problems = readProblemForm(this);
  }

  recordModule(): void {
    this.facts.module = this.module?.name ?? null;
  }

  /** The permission in the path; that of the body is the same. */
  get permission(): string {
    return this.input.permission;
  }

  get shippedUi(): ReadonlySet<string> {
    return this.#context.shippedUi;
  }

  /** The parsed body. @throws Error before it is read. */
  get sent(): BridgeRequest {
    if (this.#sent === null) throw new Error('the body is not read yet');
    return this.#sent;
  }

  set sent(sent: BridgeRequest) {
    this.#sent = sent;
  }

  /** `null` unless the module serves nothing because its manifest is pending. */
  get waiting(): WaitingModule | null {
    return this.module === null ? this.#context.generations.findWaiting(this.input.module) : null;
  }

  get allow(): Descriptor['allow'] {
    return (this.module?.descriptor ?? this.waiting)?.allow;
  }

  /** @throws Error if there is none. */
  get liveModule(): LiveModule {
    const { module } = this;
    if (module === null) throw new Error('the request has no module');
    return module;
  }

  get operation(): BridgeOperation {
    const { operation: name } = this.sent.payload;
    const operation = this.#context.operations.get(name);
    if (operation === undefined) throw new Error(`no operation handles ${name}`);
    return operation;
  }

  get operationCall(): BridgeCall {
    const { authorization, liveModule: module, permission, request, hopByHop, body } = this;
    const generation = this.#generation;
    return { authorization, module, permission, request, hopByHop, body, generation };
  }

  close(): void {
    this.module?.client.release();
  }
}
