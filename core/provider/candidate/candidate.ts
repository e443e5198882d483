import type { FoundDifference } from '../../contract/candidate-report.js';
import { isProviderFailure, type Log, type Manifest, type Secret } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { SAFE_METHODS } from '../../descriptor/sections/candidate.js';
import { describeFailure } from '../../lib/failure-detail.js';
import { LazyAbortController } from '../../lib/lazy-abort-controller.js';
import { isJsonMediaType } from '../../lib/media-type.js';
import { createLogInterval } from '../../log/log-interval.js';
import { isWebSocket } from '../../manifest/stream-rules.js';
import type { CallObserver, ObservedRequest } from '../call-observer.js';
import type { HeldMemory } from '../held-memory.js';
import { createMask, maskFailure } from '../mask-failure.js';
import type { ReleasableMemory } from '../memory-budget.js';
import type { CheckedOutcome } from '../outcome.js';
import type { ProviderCall } from '../provider-call.js';
import type { ProviderClient } from '../provider-client.js';
import { RejectedCall } from '../rejected-call.js';
import type { CopyResult, ModuleReport } from './candidate-reports.js';
import {
  compareAnswers,
  type HeldAnswer,
  type Incomparable,
  isSameStatus,
  MAX_COMPARED_BYTES,
  readAnswer,
} from './compare-answers.js';
import { copyCall } from './copied-call.js';
import { listDeclaredNames } from './declared-names.js';

export type CandidateRules = NonNullable<Descriptor['candidate']>;

const LOG_INTERVAL_MS = 60_000;
/** The number of digits of a call's id. */
const ID_DIGITS = 8;
const IDS = 16 ** ID_DIGITS;

interface CandidateOptions {
  readonly rules: CandidateRules;
  readonly client: ProviderClient;
  /** The second client of the live provider; `null` without a baseline. */
  readonly baseline: ProviderClient | null;
  readonly report: ModuleReport;
  readonly manifest: Pick<Manifest, 'http_routes' | 'schemas'>;
  readonly secrets: readonly Secret[];
  readonly log: Log;
}

/** A response of the live provider that may be compared. */
interface AnsweredCall extends ObservedRequest {
  readonly call: ProviderCall;
  readonly outcome: CheckedOutcome;
}

/**
 * Repeats a share of the answered calls at another version of the provider, and compares the
 * responses.
 */
export class Candidate implements CallObserver {
  readonly #options: CandidateOptions;
  readonly #methods: ReadonlySet<string>;
  readonly #routes: ReadonlyMap<string, Manifest['http_routes'][number]>;
  /** The declared names of routes that have been compared. */
  readonly #declared = new Map<string, readonly string[]>();
  readonly #mayLog = createLogInterval(LOG_INTERVAL_MS);
  readonly #copies = new Set<Copy>();
  #running = 0;
  #isClosed = false;

  constructor(options: CandidateOptions) {
    const { rules, manifest, report } = options;
    this.#options = options;
    this.#methods = new Set(rules.methods);
    this.#routes = new Map(
      manifest.http_routes
        .filter((route) => !isWebSocket(route))
        .map((route) => [`${route.method} ${route.path}`, route]),
    );
    report.keepRoutes([...this.#routes.keys()]);
  }

  observe(request: ObservedRequest) {
    if (!this.#methods.has(request.method)) return null;
    return (call: ProviderCall, outcome: CheckedOutcome) =>
      this.#offer({ ...request, call, outcome });
  }

  /** The copy is made after the response was sent to the caller. */
  #offer(answered: AnsweredCall): void {
    const { call, route, outcome, held } = answered;
    if (this.#isClosed || !this.#isChosen(call)) return;
    const { length, headers } = outcome;
    const isJson = length === 0 || isJsonMediaType(headers['content-type'] ?? '');
    if (!isJson || length > MAX_COMPARED_BYTES || outcome.stream !== null) {
      this.#options.report.count(route, 'dropped');
      return;
    }
    const copy = new Copy(answered);
    this.#copies.add(copy);
    if (copy.held.reserve(length + readBodyLength(call)) !== null) this.#end(copy, 'dropped');
    else held.onClose(() => void this.#make(copy));
  }

  /** Drops the remaining copies. */
  close(): void {
    this.#isClosed = true;
    for (const { giveUp } of [...this.#copies]) giveUp();
  }

  #isChosen({ headers }: ProviderCall): boolean {
    const id = headers['modgate-call-id']?.slice(0, ID_DIGITS) ?? '';
    return Number.parseInt(id, 16) / IDS < this.#options.rules.share;
  }

  /** Never rejects. */
  async #make(copy: Copy): Promise<void> {
    if (copy.signal.aborted || this.#running >= this.#options.rules.concurrency) {
      this.#end(copy, 'dropped');
      return;
    }
    this.#running += 1;
    let result: CopyResult = 'failed';
    try {
      result = await this.#compare(copy);
    } catch (error) {
      if (copy.signal.aborted || error instanceof RejectedCall) result = 'dropped';
      else this.#logFailure(error, copy.answered);
    }
    this.#running -= 1;
    this.#end(copy, result);
  }

  #end(copy: Copy, result: CopyResult): void {
    copy.held.close();
    this.#copies.delete(copy);
    this.#options.report.count(copy.answered.route, result);
  }

  async #compare(copy: Copy): Promise<CopyResult> {
    const { rules, client, baseline, report } = this.#options;
    const { route, method, call, outcome } = copy.answered;
    const live = readAnswer(outcome);
    if (typeof live === 'string') return 'dropped';
    const repeats = rules.baseline && SAFE_METHODS.has(method) ? baseline : null;
    const [candidate, repeatedResult] = await Promise.allSettled([
      send(client, copy, true),
      repeats === null ? null : send(repeats, copy, false),
    ]);
    if (candidate.status === 'rejected') throw candidate.reason;
    if (candidate.value === 'too long') return 'dropped';
    if (candidate.value === 'no JSON') return 'failed';
    // Only the second response shows which differences are noise.
    if (repeatedResult.status === 'rejected' || typeof repeatedResult.value === 'string')
      return 'dropped';
    const answers = { live, candidate: candidate.value, repeated: repeatedResult.value };
    const knownNames = { ignore: rules.ignore, declared: this.#listDeclared(route) };
    const turn = { signal: copy.signal, share: call.context.module };
    const pointers = await compareAnswers(answers, knownNames, turn);
    if (pointers === null) return 'dropped';
    if (pointers.length === 0 && isSameStatus(answers)) return 'same';
    const difference: FoundDifference = {
      at: new Date().toISOString(),
      route,
      live: live.status,
      candidate: answers.candidate.status,
      request_id: call.context.requestId,
      pointers,
    };
    report.addDifference(difference);
    return 'different';
  }

  #listDeclared(name: string): readonly string[] {
    const route = this.#routes.get(name);
    const { schemas = {} } = this.#options.manifest;
    const declared = this.#declared.get(name) ?? (route ? listDeclaredNames(route, schemas) : []);
    this.#declared.set(name, declared);
    return declared;
  }

  #logFailure(error: unknown, { route, call }: AnsweredCall): void {
    const { log, secrets } = this.#options;
    const masked = maskFailure(error, createMask(secrets, call));
    if (!isProviderFailure(masked)) log.error({ err: masked, route }, 'candidate copy failed');
    else if (this.#mayLog()) {
      log.info({ route, failure_detail: describeFailure(masked) }, 'candidate did not answer');
    }
  }
}

/** @throws ProviderFailure without a response. */
async function send(
  client: ProviderClient,
  { answered, signal, held }: Copy,
  isForCandidate: boolean,
): Promise<HeldAnswer | Incomparable> {
  const { streams } = client;
  const call = copyCall(answered.call, { signal, held, streams, isForCandidate });
  const { value } = await client.call(call, readAnswer);
  return value;
}

function readBodyLength({ operation }: ProviderCall): number {
  return operation.kind === 'http_route' ? (operation.body?.length ?? 0) : 0;
}

/** A repeated call, from the first response to the comparison. */
class Copy implements ReleasableMemory {
  readonly answered: AnsweredCall;
  readonly held: HeldMemory;
  readonly signal = new LazyAbortController();

  constructor(answered: AnsweredCall) {
    this.answered = answered;
    this.held = answered.held.openSpare(this);
  }

  readonly giveUp = (): void => {
    this.signal.abort();
    this.held.close();
  };
}
